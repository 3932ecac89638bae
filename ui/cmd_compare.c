// SPDX-License-Identifier: GPL-2.0-only
/* Two programs or runs side by side, as text: what --compare prints where there is no terminal. */
#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "compare_input.h"

enum { LINES = 10 };

struct side {
	struct loupe_trace *trace;
	struct loupe_source *source;
	struct loupe_verify_result result;
	bool has_result;
};

static int explore(const struct input *input, const struct loupe_verify_opts *rules,
		   struct side *side)
{
	const struct loupe_image *image = input->progs.progs[0].image;
	struct loupe_verify_opts opts = *rules;
	int rc;

	side->trace = loupe_trace_create(image);
	if (!side->trace || loupe_source_create(image, &side->source))
		return complain_text("out of memory");
	opts.listeners[0] = loupe_trace_listener(side->trace);
	opts.listener_cnt = 1;
	rc = input->log
		     ? loupe_logged_replay(loupe_log_file_at(input->log, 0), &opts, &side->result)
		     : loupe_verify(image, &opts, &side->result);
	side->has_result = !rc;
	if (rc || loupe_trace_finish(side->trace))
		return complain_text("out of memory");
	return 0;
}

static void print_counter(const char *name, uint64_t a, uint64_t b)
{
	printf("  %-22s %11llu %11llu %+12lld\n", name, (unsigned long long)a,
	       (unsigned long long)b, (long long)b - (long long)a);
}

static void print_lines(const struct compare *c)
{
	for (uint32_t i = 0; i < c->cost_cnt && i < LINES; i++) {
		const struct compare_line *line = &c->lines[c->by_cost[i]];
		char a[40], b[40];

		if (line->cost[0] == line->cost[1])
			break;
		if (!i)
			printf("processed insns of lines, largest difference first:\n");
		compare_place(c, 0, c->by_cost[i], a, sizeof(a));
		compare_place(c, 1, c->by_cost[i], b, sizeof(b));
		printf("  %-10s %-11s %11llu %11llu %+12lld  %s\n", a, b,
		       (unsigned long long)line->cost[0], (unsigned long long)line->cost[1],
		       (long long)line->cost[1] - (long long)line->cost[0], line->text);
	}
}

static int print(const struct input inputs[COMPARE_SIDES], const struct side sides[COMPARE_SIDES],
		 const char *rules, bool runs)
{
	const struct loupe_trace *traces[] = { sides[0].trace, sides[1].trace };
	const struct loupe_source *sources[] = { sides[0].source, sides[1].source };
	const struct loupe_counters *a = &sides[0].result.counters, *b = &sides[1].result.counters;
	struct compare c;
	int status = STATUS_OK;

	for (int i = 0; i < COMPARE_SIDES; i++) {
		char verdict[400];

		verdict_text(&sides[i].result, verdict, sizeof(verdict));
		printf("%c: %s %s, %s%s%s\n", 'A' + i, input_base_name(inputs[i].path),
		       inputs[i].progs.progs[0].name, verdict,
		       runs ? i ? ", by other rules: " : ", by the kernel's rules" : "",
		       runs && i ? rules : "");
	}
	print_counter("processed insns", a->insn_processed, b->insn_processed);
	print_counter("states", a->total_states, b->total_states);
	print_counter("peak states", a->peak_states, b->peak_states);
	print_counter("max states per insn", a->max_states_per_insn, b->max_states_per_insn);
	if (compare_make(&c, traces, sources)) {
		compare_finish(&c);
		return complain_text("out of memory");
	}
	printf("%s\n", c.words);
	print_lines(&c);
	if (c.first >= 0 || sides[0].result.verdict != sides[1].result.verdict)
		status = STATUS_REJECTED;
	compare_finish(&c);
	return status;
}

int cmd_compare(const struct args *args)
{
	struct input inputs[COMPARE_SIDES] = { 0 };
	struct side sides[COMPARE_SIDES] = { 0 };
	struct loupe_verify_opts kernel = args->verify;
	char rules[100];
	int status;

	loupe_verify_opts_init(&kernel);
	compare_rules(&args->verify, rules, sizeof(rules));
	status = compare_open(args->files, args->file_cnt, &args->load, &args->verify, inputs);
	if (status)
		return status;
	for (int i = 0; i < COMPARE_SIDES && !status; i++)
		status = explore(&inputs[i], args->file_cnt == 1 && !i ? &kernel : &args->verify,
				 &sides[i]);
	if (!status)
		status = print(inputs, sides, rules, args->file_cnt == 1);
	for (int i = 0; i < COMPARE_SIDES; i++) {
		loupe_trace_destroy(sides[i].trace);
		loupe_source_destroy(sides[i].source);
		if (sides[i].has_result)
			loupe_verify_result_finish(&sides[i].result);
		input_finish(&inputs[i]);
	}
	return status;
}
