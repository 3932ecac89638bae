// SPDX-License-Identifier: GPL-2.0-only
/* Any text as a log: no crash, no control characters, and a trace that answers. */
#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "bpfloupe.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_text(const char *text)
{
	for (; *text; text++)
		assert((unsigned char)*text >= ' ' && *text != 0x7f);
}

static void walk(const struct loupe_trace *trace)
{
	struct loupe_cursor *cursor = loupe_cursor_create(trace);
	uint32_t cnt = loupe_trace_step_cnt(trace);

	assert(cursor);
	for (uint32_t s = 0; s < cnt; s += 1 + cnt / 16) {
		struct loupe_decision decisions[8];
		struct loupe_blame blame[8];
		const struct loupe_state *st = loupe_cursor_seek(cursor, s);
		char text[256];

		assert(st);
		loupe_frame_print(text, sizeof(text), st, st->curframe, NULL);
		loupe_trace_decisions(trace, s, decisions, 8);
		for (uint8_t r = 0; r < LOUPE_MAX_REG; r++)
			loupe_trace_blame_chain(
				trace, s,
				(struct loupe_loc){ .index = r, .frameno = (uint8_t)st->curframe },
				blame, 8);
	}
	loupe_cursor_destroy(cursor);
}

static void replay(const struct loupe_logged *logged, const struct loupe_image *image)
{
	struct loupe_trace *trace = loupe_trace_create(image);
	struct loupe_verify_result result;
	struct loupe_verify_opts opts;
	struct loupe_source *source;

	assert(trace && !loupe_source_create(image, &source));
	loupe_verify_opts_init(&opts);
	opts.listeners[opts.listener_cnt++] = loupe_trace_listener(trace);
	assert(!loupe_logged_replay(logged, &opts, &result));
	assert(!loupe_trace_finish(trace));
	assert(loupe_trace_step_cnt(trace) == loupe_logged_step_cnt(logged));
	walk(trace);
	for (uint32_t i = 0; i < image->insn_cnt && i < 64; i++) {
		struct loupe_source_line line;

		if (loupe_source_line_of(source, i, &line))
			check_text(line.file);
	}
	loupe_source_destroy(source);
	loupe_trace_destroy(trace);
	loupe_verify_result_finish(&result);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct loupe_log_file *file;
	struct loupe_error err = { .message = "" };
	const struct loupe_program_list *list;

	loupe_log_sniff((const char *)data, size);
	if (loupe_log_read("input", (const char *)data, size, &file, &err)) {
		assert(err.message[0]);
		check_text(err.message);
		return 0;
	}
	list = loupe_log_file_programs(file);
	for (uint32_t i = 0; i < list->cnt; i++) {
		check_text(list->progs[i].name);
		replay(loupe_log_file_at(file, i), list->progs[i].image);
	}
	loupe_log_file_destroy(file);
	return 0;
}
