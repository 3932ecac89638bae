// SPDX-License-Identifier: GPL-2.0-only
/*
 * Golden logs: for each NAME.bpfasm, NAME.log beside it holds what a Linux 6.18 kernel said, in
 * sections that start with a "---" line:
 *
 *	--- accepted                 or "--- rejected EACCES"
 *	--- log level 6              the log, kernel addresses and the verification time normalised
 *	--- log level 1
 *	--- translated               instructions after verification, one slot a line (after_*)
 *
 * A level whose log is longer than 256 KiB is left out; level 4 is there instead of 6 then.
 * What programs name of a kernel's types they find in kernel.btf, or in the running kernel's own
 * when that is asked. Programs named unpriv_* are loaded as an ordinary user. The recording machine
 * has two CPUs: their number bounds a helper's result.
 *
 * usage: golden DIR [NAME...]            compare the model with the recorded logs
 *        golden --record DIR [NAME...]   record what the running kernel says (root, 6.18)
 *        golden --live DIR [NAME...]     compare the model with what the running kernel says now
 *        golden --nobody DIR [NAME...]   the same for an ordinary user: programs of the two types
 *                                        that one may load, and all others as socket filters
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <linux/bpf.h>

#include "bpfloupe/kernel.h"
#include "bpfloupe/load.h"
#include "bpfloupe/log.h"
#include "bpfloupe/verify.h"
#include "names.h"

enum { PATH_SIZE = 4096, LOG_MAX = 256 << 10, CPUS = 2, SKIPPED = 77 };

enum mode { COMPARE, RECORD, LIVE, NOBODY };

/* Programs of the types that an ordinary user may load: so many must be compared. */
enum { NOBODY_LEAST = 100 };
static uint32_t loadable_cnt, skipped_cnt;

struct golden {
	char source[PATH_SIZE], log[PATH_SIZE];
	const char *name;
	bool unprivileged, translated;
	bool loadable; /* of a type that an ordinary user may load */
	bool skipped;  /* who may not create its maps */
	struct loupe_program_list list;
	const struct loupe_image *image;
};

static bool starts_with(const char *text, const char *with)
{
	return !strncmp(text, with, strlen(with));
}

/* A text file, NUL-terminated; NULL if it cannot be read. */
static char *read_text(const char *path)
{
	FILE *f = fopen(path, "r");
	size_t size = 1 << 16, len = 0;
	char *text = malloc(size);

	while (f && text) {
		size_t n = fread(text + len, 1, size - len - 1, f);

		len += n;
		if (!n)
			break;
		if (len + 1 == size) {
			size *= 2;
			text = realloc(text, size);
		}
	}
	if (f)
		fclose(f);
	if (!f || !text) {
		free(text);
		return NULL;
	}
	text[len] = '\0';
	return text;
}

/* What an ordinary user may load; another type's program becomes a socket filter. */
static void make_loadable(struct golden *golden)
{
	struct loupe_image *image = golden->list.progs[0].image;

	golden->loadable = image->prog_type == BPF_PROG_TYPE_SOCKET_FILTER ||
			   image->prog_type == BPF_PROG_TYPE_CGROUP_SKB;
	if (golden->loadable)
		return;
	image->prog_type = BPF_PROG_TYPE_SOCKET_FILTER;
	image->expected_attach_type = 0;
	image->attach_btf_id = 0;
}

static bool open_golden(struct golden *golden, const char *dir, const char *name, enum mode mode)
{
	char types[PATH_SIZE];
	const struct loupe_load_opts opts = { .size = sizeof(opts),
					      .kernel_btf = mode == COMPARE ? types : NULL,
					      .cpus = mode >= LIVE ? 0 : CPUS };
	struct loupe_error err;
	int ret;

	snprintf(types, sizeof(types), "%s/kernel.btf", dir);
	*golden = (struct golden){
		.name = name,
		.unprivileged = mode == NOBODY || starts_with(name, "unpriv_"),
		.translated = mode != NOBODY && starts_with(name, "after_"),
	};
	snprintf(golden->source, sizeof(golden->source), "%s/%s.bpfasm", dir, name);
	if (mode >= LIVE)
		snprintf(golden->log, sizeof(golden->log), "/tmp/bpfloupe-golden.%d", getpid());
	else
		snprintf(golden->log, sizeof(golden->log), "%s/%s.log", dir, name);
	ret = loupe_load_file(golden->source, &opts, &golden->list, &err);
	if (ret) {
		printf("%s:%u: %s\n", golden->source, err.line, err.message);
		return false;
	}
	golden->image = golden->list.progs[0].image;
	if (golden->list.cnt == 1 && golden->image) {
		if (mode == NOBODY)
			make_loadable(golden);
		return true;
	}
	printf("%s: holds not just one program\n", golden->source);
	loupe_program_list_finish(&golden->list);
	return false;
}

static void verdict_line(char *buf, size_t size, int err)
{
	if (!err)
		snprintf(buf, size, "--- accepted\n");
	else
		snprintf(buf, size, "--- rejected %s\n",
			 err == -524 ? "ENOTSUPP" : strerrorname_np(-err));
}

/* --- recording -------------------------------------------------------------------------------- */

static bool record_level(const struct golden *golden, uint32_t level, FILE *out, bool *too_long)
{
	struct loupe_kernel_opts opts = {
		.size = sizeof(opts),
		.log_level = level,
		.unprivileged = golden->unprivileged,
	};
	struct loupe_kernel_result result;
	struct loupe_error err;
	size_t len;

	if (loupe_kernel_verify(golden->image, &opts, &result, &err)) {
		printf("%s: %s\n", golden->name, err.message);
		return false;
	}
	*too_long = result.log_len > LOG_MAX;
	if (!*too_long) {
		len = loupe_log_normalise(result.log, result.log_len);
		fprintf(out, "--- log level %u\n", level);
		fwrite(result.log, 1, len, out);
	}
	loupe_kernel_result_finish(&result);
	return true;
}

static bool record(struct golden *golden, enum mode mode)
{
	struct loupe_kernel_opts opts = {
		.size = sizeof(opts),
		.unprivileged = golden->unprivileged,
		.xlated = golden->translated,
	};
	struct loupe_kernel_result result;
	struct loupe_error err;
	bool too_long = false, ok;
	char line[64];
	FILE *out;

	if (loupe_kernel_verify(golden->image, &opts, &result, &err)) {
		golden->skipped = mode == NOBODY;
		if (golden->skipped)
			return true;
		printf("%s: %s\n", golden->name, err.message);
		return false;
	}
	out = fopen(golden->log, "w");
	if (!out) {
		printf("%s: %s\n", golden->log, strerror(errno));
		loupe_kernel_result_finish(&result);
		return false;
	}
	verdict_line(line, sizeof(line), result.err);
	fputs(line, out);
	ok = record_level(golden, LOUPE_LOG_LEVEL2 | LOUPE_LOG_STATS, out, &too_long);
	if (ok && too_long)
		ok = record_level(golden, LOUPE_LOG_STATS, out, &too_long);
	if (ok)
		ok = record_level(golden, LOUPE_LOG_LEVEL1, out, &too_long);
	if (result.xlated) {
		fprintf(out, "--- translated\n");
		for (uint32_t i = 0; i < result.xlated_cnt; i++) {
			uint64_t slot;

			memcpy(&slot, &result.xlated[i], sizeof(slot));
			fprintf(out, "%016llx\n", (unsigned long long)slot);
		}
	}
	loupe_kernel_result_finish(&result);
	return !fclose(out) && ok;
}

/* --- comparing -------------------------------------------------------------------------------- */

/* The section that starts with the line title; NULL if there is none. */
static const char *find_section(const char *text, const char *title, size_t *len)
{
	while (text) {
		const char *start = strchr(text, '\n'), *end;

		if (!start)
			return NULL;
		start++;
		end = starts_with(start, "---") ? start - 1 : strstr(start, "\n---");
		if (starts_with(text, title) && text + strlen(title) == start - 1) {
			*len = end ? (size_t)(end + 1 - start) : strlen(start);
			return start;
		}
		text = end ? end + 1 : NULL;
	}
	return NULL;
}

static bool check_verdict(const struct golden *golden, const char *text,
			  const struct loupe_verify_result *result)
{
	char line[64];

	if (result->verdict == LOUPE_NOT_JUDGED || result->verdict == LOUPE_STOPPED) {
		printf("%s: not judged: %s\n", golden->name, result->reason);
		return false;
	}
	verdict_line(line, sizeof(line), result->err);
	if (starts_with(text, line))
		return true;
	printf("%s: the model says %s", golden->name, line + 4);
	return false;
}

static bool check_level(const struct golden *golden, const char *text, uint32_t level)
{
	struct loupe_log_opts log_opts = {
		.size = sizeof(log_opts),
		.level = level,
		.sink = loupe_log_compare_feed,
		.unprivileged = golden->unprivileged,
	};
	struct loupe_verify_opts opts;
	struct loupe_verify_result result;
	struct loupe_log_difference diff;
	struct loupe_log *log = NULL;
	const char *section;
	char title[32];
	size_t len;
	bool ok;

	snprintf(title, sizeof(title), "--- log level %u", level);
	section = find_section(text, title, &len);
	if (!section)
		return true;
	log_opts.sink_ctx = loupe_log_compare_create(section, len);
	loupe_verify_opts_init(&opts);
	opts.unprivileged = golden->unprivileged;
	if (!log_opts.sink_ctx || loupe_log_create(golden->image, &log_opts, &log)) {
		printf("out of memory\n");
		exit(2);
	}
	opts.listeners[opts.listener_cnt++] = loupe_log_listener(log);
	if (loupe_verify(golden->image, &opts, &result) || loupe_log_finish(log)) {
		printf("out of memory\n");
		exit(2);
	}
	ok = check_verdict(golden, text, &result);
	if (!loupe_log_compare_end(log_opts.sink_ctx, &diff)) {
		ok = false;
		printf("%s: log level %u, line %llu\n", golden->name, level,
		       (unsigned long long)diff.line);
		printf("         %s\n  kernel %s\n  model  %s\n", diff.before[2], diff.want,
		       diff.got);
	}
	loupe_verify_result_finish(&result);
	loupe_log_destroy(log);
	loupe_log_compare_destroy(log_opts.sink_ctx);
	return ok;
}

static bool check_translated(const struct golden *golden, const char *text)
{
	struct loupe_verify_result result;
	const char *section;
	uint32_t at = 0;
	bool ok = true;
	size_t len;

	section = find_section(text, "--- translated", &len);
	if (!section)
		return true;
	if (loupe_verify(golden->image, NULL, &result)) {
		printf("out of memory\n");
		exit(2);
	}
	for (; ok && *section; section += 17) {
		uint64_t want = strtoull(section, NULL, 16), got = 0;

		if (at < result.final_cnt)
			memcpy(&got, &result.final_insns[at], sizeof(got));
		ok = at < result.final_cnt && got == want;
		if (!ok)
			printf("%s: translated insn %u is %016llx, the model's %016llx\n",
			       golden->name, at, (unsigned long long)want, (unsigned long long)got);
		at++;
	}
	if (ok && at != result.final_cnt) {
		printf("%s: %u insns translated, the model has %u\n", golden->name, at,
		       result.final_cnt);
		ok = false;
	}
	loupe_verify_result_finish(&result);
	return ok;
}

static bool check(const struct golden *golden)
{
	char *text = read_text(golden->log);
	bool ok = true;

	if (!text) {
		printf("%s: %s\n", golden->log, strerror(errno));
		return false;
	}
	ok &= check_level(golden, text, LOUPE_LOG_LEVEL2 | LOUPE_LOG_STATS);
	ok &= check_level(golden, text, LOUPE_LOG_STATS);
	ok &= check_level(golden, text, LOUPE_LOG_LEVEL1);
	ok &= check_translated(golden, text);
	free(text);
	return ok;
}

/* --- which ------------------------------------------------------------------------------------ */

static bool run(const char *dir, const char *name, void *data)
{
	enum mode mode = *(enum mode *)data;
	struct golden golden;
	bool ok = true;

	if (!open_golden(&golden, dir, name, mode))
		return false;
	if (mode != COMPARE)
		ok = record(&golden, mode);
	if (mode != RECORD && !golden.skipped)
		ok = ok && check(&golden);
	if (mode >= LIVE)
		unlink(golden.log);
	loadable_cnt += golden.loadable && !golden.skipped;
	skipped_cnt += golden.skipped;
	loupe_program_list_finish(&golden.list);
	return ok;
}

/* @return 0 if the kernel can be asked, else the exit status */
static int check_kernel(enum mode mode)
{
	struct loupe_error err;
	const char *why = NULL;

	if (loupe_kernel_usable(&err))
		why = err.message;
	else if (!loupe_kernel_is_modelled())
		why = "the running kernel is not 6.18";
	else if (mode == RECORD && sysconf(_SC_NPROCESSORS_CONF) != CPUS)
		why = "logs are recorded on a machine with two CPUs";
	if (!why)
		return 0;
	printf("skipped: %s\n", why);
	return mode >= LIVE ? SKIPPED : 2;
}

int main(int argc, char **argv)
{
	enum mode mode = COMPARE;
	uint32_t cnt, failed;
	const char *dir;
	int first, status;

	if (argc > 1 && !strcmp(argv[1], "--record"))
		mode = RECORD;
	else if (argc > 1 && !strcmp(argv[1], "--live"))
		mode = LIVE;
	else if (argc > 1 && !strcmp(argv[1], "--nobody"))
		mode = NOBODY;
	first = mode == COMPARE ? 1 : 2;
	if (argc <= first) {
		fprintf(stderr, "usage: golden [--record|--live|--nobody] DIR [NAME...]\n");
		return 2;
	}
	dir = argv[first];
	status = mode == COMPARE ? 0 : check_kernel(mode);
	if (status)
		return status;
	cnt = each_program(dir, argv + first + 1, argc - first - 1, run, &mode, &failed);
	printf("%u of %u as they should be\n", cnt - failed, cnt);
	if (mode == NOBODY)
		printf("%u of the two types; %u not loaded, for their maps\n", loadable_cnt,
		       skipped_cnt);
	return failed || !cnt ||
	       (mode == NOBODY && first + 1 == argc && loadable_cnt < NOBODY_LEAST);
}
