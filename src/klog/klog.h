/* SPDX-License-Identifier: GPL-2.0-only */
/* Inside of a log: its text and what the kernel remembers between lines. */
#ifndef KLOG_KLOG_H
#define KLOG_KLOG_H

#include "bpfloupe/log.h"
#include "btf/btf.h"
#include "klog/forms.h"
#include "klog/names.h"
#include "klog/text.h"

/* Bytes of one message; the kernel's buffer has room for one more, the NUL. */
enum { MESSAGE_MAX = 1023 };

struct loupe_log {
	uint32_t level;
	void (*sink)(void *ctx, const char *text, size_t len);
	void *sink_ctx;
	struct form_ctx form;
	struct btf *btf; /* the program's, for source lines; opened at the begin event */

	struct text text;
	uint64_t base; /* bytes given to the sink: text.buf[0] has this position in the log */
	uint64_t true_size;
	uint64_t buffer_size; /* 0: no bound */
	uint64_t start;	      /* first byte that is still in the buffer */

	uint64_t *positions; /* of the log where each pending path was left, latest last */
	uint32_t position_cnt, position_cap;

	enum loupe_phase phase;
	bool resumed; /* a path was popped or a frame left since this function's exploration
			 began */
	const struct loupe_line_info *prev_line; /* source line printed last, NULL if none */
	uint64_t insn_end;			 /* position after the last step's line */
	uint64_t insn_length;			 /* bytes of that line */
};

/* Present end of the log. */
uint64_t log_position(const struct loupe_log *log);

/* Takes text back to position, which must not have been given to the sink. */
void log_take_back(struct loupe_log *log, uint64_t position);

/* Notes the size reached; call it before text is taken back. */
void log_written(struct loupe_log *log);

/* Ends an event: text that will stay may go to the sink. */
void log_piece_done(struct loupe_log *log);

/* Writes a form if the level asks for it. */
void log_put(struct loupe_log *log, enum form_id id, const struct field *fields);

/* The same, cut as one message of the kernel is. */
void log_put_cut(struct loupe_log *log, enum form_id id, const struct field *fields);

/* Writes the source line of insn unless it is the one written last (source.c). */
void log_source_line(struct loupe_log *log, int32_t insn_idx);

/* Name of subprogram subprogno in the function info, "" if there is none (source.c). */
const char *log_subprog_name(const struct loupe_log *log, uint32_t subprogno);

#endif
