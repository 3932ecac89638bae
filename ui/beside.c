// SPDX-License-Identifier: GPL-2.0-only
/* Compares the model's log with one that the user has. */
#include "beside.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bpfloupe/log.h"
#include "input.h"

int beside_open(const char *path, struct beside *out, struct loupe_error *err)
{
	char *data;
	size_t len;
	int rc = input_read(path, &data, &len, err);

	*out = (struct beside){ .path = path };
	if (rc)
		return rc;
	rc = loupe_log_read(path, data, len, &out->file, err);
	free(data);
	return rc;
}

void beside_close(struct beside *beside)
{
	loupe_log_file_destroy(beside->file);
	*beside = (struct beside){ 0 };
}

const struct loupe_logged *beside_find(const struct beside *beside, const char *prog_name,
				       bool only, bool chosen)
{
	const struct loupe_program_list *list = loupe_log_file_programs(beside->file);

	for (uint32_t i = 0; i < list->cnt; i++) {
		if (!strcmp(list->progs[i].name, prog_name))
			return loupe_log_file_at(beside->file, i);
	}
	return only && list->cnt == 1 && (chosen || !*list->progs[0].image->prog_name)
		       ? loupe_log_file_at(beside->file, 0)
		       : NULL;
}

/* --- comparing ------------------------------------------------------------------------------- */

/* Text without blanks around its lines. NULL when out of memory. */
static char *trim_lines(const char *text, size_t len, size_t *out_len)
{
	char *out = malloc(len + 1), *to = out;
	const char *end = text + len;

	while (out && text < end) {
		const char *newline = memchr(text, '\n', (size_t)(end - text));
		const char *stop = newline ? newline : end;
		const char *next = newline ? newline + 1 : end;

		while (text < stop && (*text == ' ' || *text == '\t'))
			text++;
		while (stop > text && (stop[-1] == ' ' || stop[-1] == '\t'))
			stop--;
		memcpy(to, text, (size_t)(stop - text));
		to += stop - text;
		if (newline)
			*to++ = '\n';
		text = next;
	}
	if (out)
		*out_len = (size_t)(to - out);
	return out;
}

static uint64_t count_lines(const char *text, size_t len)
{
	uint64_t cnt = 0;
	const char *end = text + len;

	for (; text < end && (text = memchr(text, '\n', (size_t)(end - text))); text++)
		cnt++;
	return cnt;
}

/* The last cnt lines. */
static const char *last_lines(const char *text, size_t len, uint64_t cnt)
{
	const char *at = text + len;

	for (; at > text; at--) {
		if (at[-1] == '\n' && !cnt--)
			break;
	}
	return at;
}

static int write_model(const struct loupe_image *image, const struct loupe_verify_opts *knobs,
		       uint32_t level, char **text, size_t *len, struct loupe_verify_result *result)
{
	struct loupe_log_opts log_opts = { .size = sizeof(log_opts),
					   .level = level,
					   .unprivileged = knobs->unprivileged };
	struct loupe_verify_opts opts = *knobs;
	struct loupe_log *log;
	const char *whole;
	size_t whole_len;
	int rc = loupe_log_create(image, &log_opts, &log);

	if (rc)
		return rc;
	opts.listeners[0] = loupe_log_listener(log);
	opts.listener_cnt = 1;
	rc = loupe_verify(image, &opts, result);
	if (!rc) {
		rc = loupe_log_finish(log);
		if (!rc && opts.cancel && *opts.cancel)
			rc = -ECANCELED;
		whole = loupe_log_text(log, &whole_len);
		*text = rc ? NULL : trim_lines(whole, whole_len, len);
		if (!rc && !*text)
			rc = -ENOMEM;
		if (rc)
			loupe_verify_result_finish(result);
	}
	loupe_log_destroy(log);
	return rc;
}

size_t beside_same(const struct loupe_log_difference *diff)
{
	enum { FAR = 60, AROUND = 30 };
	size_t same = 0;

	while (diff->want[same] && diff->want[same] == diff->got[same])
		same++;
	return same > FAR ? same - AROUND : 0;
}

static void say(const char *path, const struct loupe_verify_result *model, uint32_t lacks,
		struct beside_result *out)
{
	const char *name = input_base_name(path);
	size_t same = beside_same(&out->diff);
	char cut[80] = "";

	if (lacks & LOUPE_LACKS_BEGINNING)
		snprintf(cut, sizeof(cut), ", whose beginning is cut off,");
	if (out->agrees)
		snprintf(out->words, sizeof(out->words),
			 "The model agrees with %s%s in all %llu lines.", name, cut,
			 (unsigned long long)out->lines);
	else if (model->verdict != LOUPE_ACCEPTED && model->verdict != LOUPE_REJECTED)
		snprintf(out->words, sizeof(out->words),
			 "The model does not judge this program, but agrees with %s%s up to line "
			 "%llu.",
			 name, cut, (unsigned long long)out->diff.line - 1);
	else
		snprintf(out->words, sizeof(out->words),
			 "The model differs from %s%s in line %llu: %s%.200s (model: %s%.200s)",
			 name, cut, (unsigned long long)out->diff.line, same ? "…" : "",
			 out->diff.want + same, same ? "…" : "", out->diff.got + same);
	loupe_text_clean(out->words, strlen(out->words), false);
}

int beside_compare(const char *path, const struct loupe_logged *logged,
		   const struct loupe_image *image, const struct loupe_verify_opts *opts,
		   struct beside_result *out)
{
	struct loupe_log_compare *compare = NULL;
	struct loupe_verify_result model, said;
	size_t len, model_len = 0;
	char *want, *got = NULL;
	const char *want_at, *got_at, *raw = loupe_logged_text(logged, &len);
	uint32_t lacks;
	int rc;

	*out = (struct beside_result){ .level = loupe_logged_level(logged) };
	/* counters alone are what level 4 has; without even times it is level 1 of an accepted
	 * program */
	if (!out->level)
		out->level = LOUPE_LOG_LEVEL1;
	rc = loupe_logged_replay(logged, NULL, &said);
	if (rc)
		return rc;
	lacks = said.lacks;
	loupe_verify_result_finish(&said);
	want = trim_lines(raw, len, &len);
	rc = want ? write_model(image, opts, out->level, &got, &model_len, &model) : -ENOMEM;
	if (rc) {
		free(want);
		return rc;
	}
	want_at = want;
	got_at = got;
	if (lacks & LOUPE_LACKS_BEGINNING) {
		/* the kernel keeps the end; the first line that it keeps is seldom whole */
		const char *newline = memchr(want, '\n', len);

		want_at = newline ? newline + 1 : want;
		got_at = last_lines(got, model_len,
				    count_lines(want_at, len - (size_t)(want_at - want)));
	}
	len -= (size_t)(want_at - want);
	model_len -= (size_t)(got_at - got);
	out->lines = count_lines(want_at, len);
	compare = loupe_log_compare_create(want_at, len);
	if (compare) {
		loupe_log_compare_feed(compare, got_at, model_len);
		out->agrees = loupe_log_compare_end(compare, &out->diff);
		out->diff.line += out->diff.line && want_at != want;
		say(path, &model, lacks, out);
	} else {
		rc = -ENOMEM;
	}
	loupe_log_compare_destroy(compare);
	loupe_verify_result_finish(&model);
	free(want);
	free(got);
	return rc;
}
