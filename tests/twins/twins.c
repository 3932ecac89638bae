// SPDX-License-Identifier: GPL-2.0-only
/*
 * usage: twins TABLE FOLDER MINIMUM
 * Each row of the table names a file of the folder, a program of it that is rejected, and its twin
 * that is accepted. The instruction that loupe_trace_fault() names must be among those that differ
 * from the twin in at least MINIMUM rows. FOLDER - is that of $BPFLOUPE_SELFTESTS. Skips itself
 * (77) without it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bpfloupe/insn.h"
#include "bpfloupe/load.h"
#include "bpfloupe/trace.h"

enum { MAX_INSNS = 2000, SKIPPED = 77 };

/* A program, verified. */
struct judged {
	struct loupe_program_list progs;
	struct loupe_trace *trace;
	struct loupe_verify_result result;
};

static int judge(const char *path, const char *name, struct judged *judged)
{
	struct loupe_load_opts load = { .size = sizeof(load), .prog_name = name };
	struct loupe_verify_opts opts;
	struct loupe_error err = { 0 };

	*judged = (struct judged){ 0 };
	if (loupe_load_file(path, &load, &judged->progs, &err) || judged->progs.cnt != 1 ||
	    !judged->progs.progs[0].image) {
		fprintf(stderr, "%s: %s does not load: %s\n", path, name, err.message);
		return -1;
	}
	judged->trace = loupe_trace_create(judged->progs.progs[0].image);
	loupe_verify_opts_init(&opts);
	opts.listeners[opts.listener_cnt++] = loupe_trace_listener(judged->trace);
	if (!judged->trace || loupe_verify(judged->progs.progs[0].image, &opts, &judged->result) ||
	    loupe_trace_finish(judged->trace))
		return -1;
	return 0;
}

static void finish(struct judged *judged)
{
	loupe_trace_destroy(judged->trace);
	loupe_verify_result_finish(&judged->result);
	loupe_program_list_finish(&judged->progs);
}

/* An instruction without where it jumps to, which moves when others come or go. */
static void insn_text(const struct loupe_trace *trace, uint32_t insn, char *buf, size_t size)
{
	const struct loupe_insn_print_opts opts = {
		.symbol = loupe_insn_symbol,
		.ctx = (void *)loupe_trace_image(trace),
	};
	char *end;

	loupe_insn_print(buf, size, &loupe_trace_insns(trace)[insn], &opts);
	end = strstr(buf, "goto");
	if (!end)
		end = strstr(buf, "call pc");
	if (end)
		*end = '\0';
}

static bool same(const struct loupe_trace *a, uint32_t i, const struct loupe_trace *b, uint32_t n)
{
	char left[200], right[200];

	insn_text(a, i, left, sizeof(left));
	insn_text(b, n, right, sizeof(right));
	return strcmp(left, right) == 0;
}

/*
 * Marks the instructions of a that are not in b: those of the longest common sequence are. Where b
 * has some that a lacks, and nothing of a stands in their place, their neighbours differ.
 */
static void mark_differing(const struct loupe_trace *a, const struct loupe_trace *b, bool *differs)
{
	static uint16_t longest[MAX_INSNS + 1][MAX_INSNS + 1];
	uint32_t cnt = loupe_trace_insn_cnt(a), other = loupe_trace_insn_cnt(b), i = 0, n = 0;

	for (uint32_t x = 0; x <= cnt; x++)
		longest[x][other] = 0;
	for (uint32_t x = 0; x <= other; x++)
		longest[cnt][x] = 0;
	for (uint32_t x = cnt; x-- > 0;) {
		for (uint32_t y = other; y-- > 0;) {
			if (same(a, x, b, y))
				longest[x][y] = (uint16_t)(longest[x + 1][y + 1] + 1);
			else
				longest[x][y] = longest[x + 1][y] > longest[x][y + 1]
							? longest[x + 1][y]
							: longest[x][y + 1];
		}
	}
	while (i < cnt || n < other) {
		uint32_t from = i, inserted = n;

		while ((i < cnt || n < other) && !(i < cnt && n < other && same(a, i, b, n))) {
			if (i < cnt && (n == other || longest[i + 1][n] >= longest[i][n + 1]))
				differs[i++] = true;
			else
				n++;
		}
		if (i == from && n > inserted) {
			if (i > 0)
				differs[i - 1] = true;
			if (i < cnt)
				differs[i] = true;
		}
		i++;
		n++;
	}
}

/* All lines that were printed at the rejected step. */
static void message_of(const struct loupe_trace *trace, char *buf, size_t size)
{
	uint32_t step = loupe_trace_error_step(trace);
	uint64_t row = loupe_trace_first_row(trace, LOUPE_TABLE_MESSAGE, step);
	struct loupe_message_info info;

	buf[0] = '\0';
	for (; !loupe_trace_message(trace, row, &info) && info.step == step; row++) {
		size_t len = strlen(buf);

		if (!info.before && !info.level2)
			snprintf(buf + len, size - len, "%s", info.text);
	}
	for (char *at = buf; *at; at++)
		*at = *at == '\n' ? ' ' : *at;
}

/* 1: the named one differs, 0: it does not, -1: this is no pair. */
static int compare(const char *path, const char *name, const char *twin_name)
{
	struct judged broken = { 0 }, fixed = { 0 };
	static bool differs[MAX_INSNS + 1];
	struct loupe_fault fault;
	char message[1024], text[200] = "";
	int right = -1;

	memset(differs, 0, sizeof(differs));
	if (judge(path, name, &broken) || judge(path, twin_name, &fixed)) {
		fprintf(stderr, "%s: cannot compare %s\n", path, name);
	} else if (broken.result.verdict != LOUPE_REJECTED ||
		   fixed.result.verdict != LOUPE_ACCEPTED) {
		fprintf(stderr, "%s: %s and %s are no such pair\n", path, name, twin_name);
	} else {
		message_of(broken.trace, message, sizeof(message));
		right = 0;
		if (!loupe_trace_fault(broken.trace, message, &fault)) {
			mark_differing(broken.trace, fixed.trace, differs);
			insn_text(broken.trace, (uint32_t)fault.insn_idx, text, sizeof(text));
			right = differs[fault.insn_idx];
			printf("%s  %s: insn %d: %s  (%s)\n", right ? "yes" : "NO ", name,
			       fault.insn_idx, text, message);
		}
	}
	finish(&broken);
	finish(&fixed);
	return right;
}

int main(int argc, char **argv)
{
	char line[512], file[128], name[128], twin[128], path[4096];
	int rows = 0, right = 0, missing = 0;
	const char *folder = argc == 4 ? argv[2] : "";
	FILE *table;

	if (argc != 4)
		return 2;
	if (strcmp(folder, "-") == 0)
		folder = getenv("BPFLOUPE_SELFTESTS");
	if (!folder || access(folder, R_OK)) {
		printf("skipped: there is no folder of the programs%s%s\n", folder ? ": " : "",
		       folder ? folder : "");
		return SKIPPED;
	}
	table = fopen(argv[1], "r");
	if (!table)
		return 2;
	while (fgets(line, sizeof(line), table)) {
		int is;

		if (*line == '#' || sscanf(line, "%127s %127s %127s", file, name, twin) != 3)
			continue;
		snprintf(path, sizeof(path), "%s/%s", folder, file);
		is = compare(path, name, twin);
		missing += is < 0;
		right += is > 0;
		rows++;
	}
	fclose(table);
	printf("%d of %d named instructions differ from the twin\n", right, rows);
	return missing || right < atoi(argv[3]);
}
