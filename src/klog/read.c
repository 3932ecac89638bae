// SPDX-License-Identifier: GPL-2.0-only
/* Finds the logs in a text, and what stands around them. */
#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bpfloupe/log.h"
#include "klog/logged.h"

#define MAX_TEXT (UINT32_MAX / 2)
enum { MAX_PROGRAMS = 65536, ENOTSUPP_IN_KERNEL = 524 };

struct loupe_log_file {
	struct loupe_program_list list;
	struct loupe_logged *logs; /* list.cnt */
	uint32_t list_cap, log_cap;
};

/* --- what stands around a log ---------------------------------------------------------------- */

static bool find_word(const char *from, const char *to, const char *word, const char **at)
{
	*at = memmem(from, (size_t)(to - from), word, strlen(word));
	return *at != NULL;
}

/* The name between the quotes of "prog 'NAME'". */
static char *quoted_name(const char *from, const char *to)
{
	const char *at, *end;

	if (!find_word(from, to, "prog '", &at))
		return NULL;
	at += strlen("prog '");
	end = memchr(at, '\'', (size_t)(to - at));
	return end && end > at ? strndup(at, (size_t)(end - at)) : NULL;
}

/* "PROCESSING file.o/prog, DURATION US: 12, VERDICT: success, …" of veristat. */
static char *veristat_name(const char *from, const char *to)
{
	const char *at = memchr(from, ',', (size_t)(to - from)), *slash;

	if (!at)
		return NULL;
	slash = memrchr(from, '/', (size_t)(at - from));
	return slash ? strndup(slash + 1, (size_t)(at - slash - 1)) : NULL;
}

struct around {
	char *name; /* of the program that comes */
	int verdict, err;
	bool inside;  /* between BEGIN and END */
	bool markers; /* the text has such lines at all */
};

/* "libbpf: prog 'x': BPF program load failed: Permission denied" or "…: -EACCES". */
static int named_errno(const char *from, const char *to)
{
	const char *word;

	for (int err = 1; err < 134; err++) {
		const char *name = strerrorname_np(err);

		if (name && find_word(from, to, strerror(err), &word))
			return -err;
	}
	return find_word(from, to, "-524", &word) ? -ENOTSUPP_IN_KERNEL : 0;
}

/* True if the line is not part of a log. */
static bool note_around(struct around *a, const char *from, const char *to)
{
	const char *word;

	if (find_word(from, to, "-- BEGIN PROG LOAD LOG --", &word)) {
		char *name = quoted_name(from, to);

		if (name) {
			free(a->name);
			a->name = name;
		}
		a->inside = true;
		return true;
	}
	if (find_word(from, to, "-- END PROG LOAD LOG --", &word)) {
		a->inside = false;
		return true;
	}
	if (find_word(from, to, "PROCESSING ", &word) && word == from) {
		free(a->name);
		a->name = veristat_name(from, to);
		if (find_word(from, to, "VERDICT: ", &word))
			a->verdict =
				strncmp(word + 9, "success", 7) ? LOUPE_REJECTED : LOUPE_ACCEPTED;
		return true;
	}
	if (find_word(from, to, "libbpf: ", &word) && word == from) {
		char *name = quoted_name(from, to);

		if (find_word(from, to, "load failed", &word) && !a->inside) {
			free(a->name);
			a->name = name;
			a->verdict = LOUPE_REJECTED;
			a->err = named_errno(word, to);
		} else {
			free(name);
		}
		return true;
	}
	return a->markers && !a->inside;
}

/* --- one log --------------------------------------------------------------------------------- */

static void logged_finish(struct loupe_logged *log)
{
	for (uint32_t i = 0; i < log->type_cnt; i++)
		free(log->types[i]);
	free(log->types);
	free(log->text);
	free(log->items);
	free(log->pops);
	free(log->pushed);
	free(log->step_at);
	*log = (struct loupe_logged){ 0 };
}

static uint32_t level_of_item(uint8_t kind)
{
	switch (kind) {
	case FORM_SUBPROG:
	case FORM_LIVE_REGS:
	case FORM_LIVE_REGS_INSN:
	case FORM_PATH_BEGIN:
	case FORM_WALK_BEGIN:
	case FORM_WALK_HOP:
	case FORM_WALK_PARENT:
	case FORM_LIVE_STACK:
	case FORM_LIVE_STACK_DONE:
		return LOUPE_LOG_LEVEL2;
	case FORM_STEP:
	case FORM_STATE:
		return LOUPE_LOG_LEVEL1;
	case FORM_TIME:
	case FORM_STACK_DEPTH:
		return LOUPE_LOG_STATS;
	default:
		return 0;
	}
}

/* The function's first state is not there. */
static bool begins_late(const struct loupe_logged *log)
{
	for (uint32_t i = 0; i < log->item_cnt; i++) {
		uint8_t kind = log->items[i].kind;

		if (kind == FORM_STATE)
			return false;
		if (kind == FORM_STEP || kind == FORM_STATE_AFTER || kind == FORM_PATH_BEGIN ||
		    kind == FORM_SAFE || kind == FORM_PATH_SAFE || kind == FORM_WALK_HOP)
			return true;
	}
	return false;
}

static void look_over(struct loupe_logged *log)
{
	bool steps = false, ended = false;

	for (uint32_t i = 0; i < log->item_cnt; i++) {
		log->level |= level_of_item(log->items[i].kind);
		steps |= log->items[i].kind == FORM_STEP;
		ended |= log->items[i].kind == FORM_PROCESSED;
	}
	/* level 2 includes what level 1 has */
	if (log->level & LOUPE_LOG_LEVEL2)
		log->level &= ~(uint32_t)LOUPE_LOG_LEVEL1;
	log->lacks |= LOUPE_LACKS_CHECKPOINTS;
	if (!(log->level & LOUPE_LOG_LEVEL2))
		log->lacks |= steps ? LOUPE_LACKS_PATHS | LOUPE_LACKS_FACTS : LOUPE_LACKS_FACTS;
	if (!steps)
		log->lacks |= LOUPE_LACKS_STEPS;
	if (begins_late(log))
		log->lacks |= LOUPE_LACKS_BEGINNING;
	if (!ended)
		log->lacks |= LOUPE_LACKS_END;
}

/* Takes over the text. */
static int add_log(struct loupe_log_file *file, const char *path, char *text, size_t len,
		   struct around *around)
{
	struct loupe_program *prog;
	struct loupe_logged *log;
	char name[32];
	int rc;

	if (file->list.cnt == MAX_PROGRAMS ||
	    !logged_grow((void **)&file->list.progs, &file->list_cap, file->list.cnt + 1,
			 sizeof(*prog)) ||
	    !logged_grow((void **)&file->logs, &file->log_cap, file->list.cnt + 1, sizeof(*log))) {
		free(text);
		return -ENOMEM;
	}
	prog = &file->list.progs[file->list.cnt];
	log = &file->logs[file->list.cnt];
	*log = (struct loupe_logged){ .text = text, .len = len };
	log->verdict = around->verdict;
	log->err = around->err;
	file->list.cnt++;
	snprintf(name, sizeof(name), file->list.cnt > 1 ? "log %u" : "log", file->list.cnt);
	if (!logged_find_items(log))
		return -ENOMEM;
	look_over(log);
	rc = logged_make_image(log, path, around->name);
	prog->image = log->image;
	if (rc)
		return rc;
	prog->name = strdup(around->name ? around->name : name);
	if (!prog->name)
		return -ENOMEM;
	free(around->name);
	*around = (struct around){ .markers = around->markers,
				   .inside = around->inside,
				   .verdict = -1 };
	return logged_find_paths(log);
}

/* --- the whole text -------------------------------------------------------------------------- */

static bool is_blank(const char *from, const char *to)
{
	while (from < to && isspace((unsigned char)*from))
		from++;
	return from == to;
}

struct collector {
	struct loupe_log_file *file;
	const char *path;
	struct around around;
	char *text; /* of the log that is being collected */
	uint32_t len, cap;
};

static int flush(struct collector *c)
{
	char *text = c->text;
	uint32_t len = c->len;

	c->text = NULL;
	c->len = c->cap = 0;
	if (!text || !items_sniff(text, len)) {
		/* messages alone, as of a load that failed before the log began */
		if (!text || is_blank(text, text + len) || !c->around.markers) {
			free(text);
			return 0;
		}
	}
	return add_log(c->file, c->path, text, len, &c->around);
}

static int take_line(struct collector *c, const char *from, const char *to)
{
	bool was_inside = c->around.inside;
	uint32_t len = (uint32_t)(to - from);
	int rc = 0;

	if (note_around(&c->around, from, to)) {
		if (was_inside && !c->around.inside)
			rc = flush(c);
		return rc;
	}
	if (!c->len && is_blank(from, to))
		return 0;
	if (!logged_grow((void **)&c->text, &c->cap, c->len + len + 1, 1))
		return -ENOMEM;
	memcpy(c->text + c->len, from, len);
	c->len += len;
	return !c->around.markers && items_end(from, to) ? flush(c) : 0;
}

static int collect(struct collector *c, char *text, size_t len)
{
	const char *end = text + len, *word;
	char *out = text;
	int rc = 0;

	/* line ends of other systems */
	for (const char *p = text; p < end; p++) {
		if (*p != '\r' || (p + 1 < end && p[1] != '\n'))
			*out++ = *p;
	}
	end = out;
	loupe_text_clean(text, (size_t)(end - text), true);
	c->around.markers = find_word(text, end, "-- BEGIN PROG LOAD LOG --", &word);
	for (const char *from = text; from < end && !rc;) {
		const char *newline = memchr(from, '\n', (size_t)(end - from));
		const char *to = newline ? newline + 1 : end;

		rc = take_line(c, from, to);
		from = to;
	}
	return rc ? rc : flush(c);
}

bool loupe_log_sniff(const char *text, size_t len)
{
	const char *word;

	return find_word(text, text + len, "-- BEGIN PROG LOAD LOG --", &word)
		       ? !memchr(text, 0, len < 4096 ? len : 4096)
		       : items_sniff(text, len);
}

int loupe_log_read(const char *path, const char *text, size_t len, struct loupe_log_file **out,
		   struct loupe_error *err)
{
	struct collector c = { .path = path, .around = { .verdict = -1 } };
	char *copy;
	int rc;

	*out = NULL;
	if (len > MAX_TEXT)
		return loupe_error_set(err, -EFBIG, "%s: a log of more than 2 GB; cut it", path);
	c.file = calloc(1, sizeof(*c.file));
	copy = malloc(len + 1);
	if (c.file && copy) {
		memcpy(copy, text, len);
		rc = collect(&c, copy, len);
	} else {
		rc = -ENOMEM;
	}
	free(copy);
	free(c.text);
	free(c.around.name);
	if (!rc && !c.file->list.cnt)
		rc = loupe_error_set(
			err, -EINVAL,
			"%s: holds no verifier log: neither states (\"0: R1=ctx() …\") nor its "
			"last line (\"processed N insns …\")",
			path);
	else if (rc)
		loupe_error_set(err, rc, "out of memory");
	if (rc)
		loupe_log_file_destroy(c.file);
	else
		*out = c.file;
	return rc;
}

void loupe_log_file_destroy(struct loupe_log_file *file)
{
	if (!file)
		return;
	for (uint32_t i = 0; i < file->list.cnt; i++)
		logged_finish(&file->logs[i]);
	free(file->logs);
	loupe_program_list_finish(&file->list);
	free(file);
}

const struct loupe_program_list *loupe_log_file_programs(const struct loupe_log_file *file)
{
	return &file->list;
}

const struct loupe_logged *loupe_log_file_at(const struct loupe_log_file *file, uint32_t n)
{
	return n < file->list.cnt ? &file->logs[n] : NULL;
}

uint32_t loupe_logged_level(const struct loupe_logged *log)
{
	return log->level;
}

const char *loupe_logged_text(const struct loupe_logged *log, size_t *len)
{
	*len = log->len;
	return log->text;
}

uint32_t loupe_logged_step_cnt(const struct loupe_logged *log)
{
	return log->step_cnt;
}

size_t loupe_logged_step_offset(const struct loupe_logged *log, uint32_t step)
{
	return step < log->step_cnt ? log->items[log->step_at[step]].at : log->len;
}

size_t loupe_lacks_print(char *buf, size_t size, uint32_t lacks)
{
	static const struct {
		uint32_t lacks;
		const char *words;
	} rows[] = {
		{ LOUPE_LACKS_BEGINNING, "its beginning" },
		{ LOUPE_LACKS_END, "its end and the verdict" },
		{ LOUPE_LACKS_STEPS, "the steps" },
		{ LOUPE_LACKS_LAST_STEP, "the last step" },
		{ LOUPE_LACKS_PATHS, "the paths that did not fail" },
		{ LOUPE_LACKS_FACTS, "liveness and precision" },
		{ LOUPE_LACKS_STATES, "states that 6.18 would write otherwise" },
		{ LOUPE_LACKS_ERRNO, "the error number" },
		{ LOUPE_LACKS_CHECKPOINTS, "checkpoints, misses and evictions" },
	};
	size_t len = 0;

	if (size)
		buf[0] = '\0';
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		if (lacks & rows[i].lacks)
			len += (size_t)snprintf(len < size ? buf + len : NULL,
						len < size ? size - len : 0, "%s%s",
						len ? "; " : "", rows[i].words);
	}
	return len;
}
