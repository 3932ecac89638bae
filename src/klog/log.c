// SPDX-License-Identifier: GPL-2.0-only
/* The log's text: positions, taking back, passing on. hooks.c writes into it. */
#include "klog/klog.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Text kept before a piece goes to the sink, bytes. */
enum { PIECE = 64 << 10 };

static const char *kfunc_name(void *ctx, const struct loupe_insn *insn)
{
	const struct loupe_log *log = ctx;

	/* Type 0 is void, whose name is empty. */
	if (!insn->imm && !insn->off)
		return "";
	return insn->off ? NULL : names_type(log->form.names, 0, (uint32_t)insn->imm);
}

int loupe_log_create(const struct loupe_image *image, const struct loupe_log_opts *opts,
		     struct loupe_log **out)
{
	struct loupe_log *log;

	*out = NULL;
	if (opts && opts->level & ~(uint32_t)LOUPE_LOG_LEVELS)
		return -EINVAL;
	log = calloc(1, sizeof(*log));
	if (!log)
		return -ENOMEM;
	if (loupe_names_create(image, &log->form.names)) {
		free(log);
		return -ENOMEM;
	}
	log->form.image = image;
	log->form.insn_opts.kfunc_name = kfunc_name;
	log->form.insn_opts.ctx = log;
	log->text.grows = true;
	if (opts) {
		log->level = opts->level;
		log->sink = opts->sink;
		log->sink_ctx = opts->sink_ctx;
		log->buffer_size = opts->buffer_size;
		log->form.insn_opts.hide_pointers = opts->unprivileged;
	}
	*out = log;
	return 0;
}

void loupe_log_destroy(struct loupe_log *log)
{
	if (!log)
		return;
	loupe_names_destroy(log->form.names);
	btf_close(log->btf);
	text_finish(&log->text);
	free(log->positions);
	free(log);
}

uint64_t log_position(const struct loupe_log *log)
{
	return log->base + log->text.len;
}

/* Does the buffer keep the end of a log that outgrows it? */
static bool rotates(const struct loupe_log *log)
{
	return log->buffer_size && !(log->level & LOUPE_LOG_FIXED);
}

void log_written(struct loupe_log *log)
{
	uint64_t needed = log_position(log) + 1;

	if (needed > log->true_size)
		log->true_size = needed;
	if (rotates(log) && needed > log->start + log->buffer_size)
		log->start = needed - log->buffer_size;
}

void log_take_back(struct loupe_log *log, uint64_t position)
{
	log_written(log);
	if (position >= log->base && position <= log_position(log)) {
		log->text.len = (size_t)(position - log->base);
	} else if (rotates(log) && position < log->base) {
		log->base = position;
		log->text.len = 0;
	}
	if (position < log->start)
		log->start = position;
}

/* Forgets text before position. */
static void drop_before(struct loupe_log *log, uint64_t position)
{
	size_t gone = (size_t)(position - log->base);

	log->text.len -= gone;
	memmove(log->text.buf, log->text.buf + gone, log->text.len);
	log->base = position;
}

/* Gives all but the last keep bytes to the sink, none from where a fixed buffer ends. */
static void pass_on(struct loupe_log *log, size_t keep)
{
	uint64_t end = log_position(log) - keep, fits = end;

	if (!log->sink || log->text.len <= keep)
		return;
	if (log->buffer_size && !rotates(log) && fits > log->buffer_size - 1)
		fits = log->buffer_size - 1;
	if (fits > log->base)
		log->sink(log->sink_ctx, log->text.buf, (size_t)(fits - log->base));
	drop_before(log, end);
}

void log_piece_done(struct loupe_log *log)
{
	log_written(log);
	if (rotates(log)) {
		if (log->start > log->base + log->buffer_size + PIECE)
			drop_before(log, log->start);
	} else if (log->level & LOUPE_LOG_LEVEL2 && log->text.len > PIECE) {
		/* at level 2 no more than a final newline is taken back */
		pass_on(log, 1);
	}
}

void log_put(struct loupe_log *log, enum form_id id, const struct field *fields)
{
	if (log->level & forms[id].levels)
		form_text(&log->text, id, fields, &log->form);
}

void log_put_cut(struct loupe_log *log, enum form_id id, const struct field *fields)
{
	size_t start = log->text.len;

	log_put(log, id, fields);
	if (log->text.len > start + MESSAGE_MAX)
		log->text.len = start + MESSAGE_MAX;
}

int loupe_log_finish(struct loupe_log *log)
{
	/* where no verification began the kernel has no log at all */
	if (log_position(log))
		log_written(log);
	if (log->start > log->base)
		drop_before(log, log->start);
	if (log->sink)
		pass_on(log, 0);
	else if (log->buffer_size && log->text.len > log->buffer_size - 1)
		log->text.len = log->buffer_size - 1;
	return log->text.failed ? -ENOMEM : 0;
}

const char *loupe_log_text(const struct loupe_log *log, size_t *len)
{
	if (len)
		*len = log->text.len;
	if (!log->text.buf)
		return "";
	log->text.buf[log->text.len] = '\0';
	return log->text.buf;
}

int loupe_log_overflow(const struct loupe_log *log)
{
	return log->buffer_size && log->true_size > log->buffer_size ? -ENOSPC : 0;
}

uint64_t loupe_log_true_size(const struct loupe_log *log)
{
	return log->true_size;
}
