// SPDX-License-Identifier: GPL-2.0-only
/* Finding and reading lessons. */
#include "lesson.h"

#include "input.h"
#include "view.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- finding ------------------------------------------------------------------------------ */

/* The folder if it is there, without ".." in its path. */
static int folder_at(const char *path, char *buf, size_t size)
{
	char *real = realpath(path, NULL);

	if (!real)
		return -ENOENT;
	snprintf(buf, size, "%s", real);
	free(real);
	return 0;
}

int lesson_folder(char *buf, size_t size)
{
	/* from the running program's folder: a program or a test of the build tree, an
	 * installation */
	static const char *const beside[] = {
		"../data/lessons",
		"../../data/lessons",
		"../share/bpfloupe/lessons",
	};
	const char *env = getenv("BPFLOUPE_LESSONS");
	char exe[2048], path[2100], *slash;
	ssize_t n;

	if (env && *env)
		return folder_at(env, buf, size);
	n = readlink("/proc/self/exe", exe, sizeof(exe) - 1);
	exe[n < 0 ? 0 : n] = '\0';
	slash = strrchr(exe, '/');
	if (slash) {
		slash[1] = '\0';
		for (size_t i = 0; i < sizeof(beside) / sizeof(beside[0]); i++) {
			snprintf(path, sizeof(path), "%s%s", exe, beside[i]);
			if (folder_at(path, buf, size) == 0)
				return 0;
		}
	}
	return folder_at(BPFLOUPE_LESSONS, buf, size);
}

/* "3-liveness.lesson": the file of lesson n in the folder. */
static int find_file(uint32_t n, char *buf, size_t size)
{
	static const char ending[] = ".lesson";
	char folder[2200], number[16];
	struct dirent *entry;
	int rc = -ENOENT;
	DIR *dir;

	if (lesson_folder(folder, sizeof(folder)))
		return -ENOENT;
	dir = opendir(folder);
	if (!dir)
		return -errno;
	snprintf(number, sizeof(number), "%u-", n);
	while (rc && (entry = readdir(dir)) != NULL) {
		size_t len = strlen(entry->d_name);

		if (len < sizeof(ending) ||
		    strcmp(entry->d_name + len - sizeof(ending) + 1, ending) ||
		    strncmp(entry->d_name, number, strlen(number)))
			continue;
		snprintf(buf, size, "%s/%s", folder, entry->d_name);
		rc = 0;
	}
	closedir(dir);
	return rc;
}

uint32_t lesson_cnt(void)
{
	char path[2600];
	uint32_t n = 0;

	while (find_file(n + 1, path, sizeof(path)) == 0)
		n++;
	return n;
}

int lesson_open(uint32_t n, struct lesson *out, struct loupe_error *err)
{
	char path[2600];
	int rc = find_file(n, path, sizeof(path));

	*out = (struct lesson){ 0 };
	if (rc)
		return loupe_error_set(err, rc,
				       "there is no lesson %u: bpfloupe --lesson lists them", n);
	return lesson_read(path, out, err);
}

/* ---- reading ------------------------------------------------------------------------------ */

struct reader {
	struct lesson *lesson;
	struct loupe_error *err;
	uint32_t line;
	char *text; /* words of the present stop, lines joined */
	size_t len;
};

static int fault(struct reader *reader, const char *what)
{
	loupe_error_set(reader->err, -EINVAL, "%s", what);
	snprintf(reader->err->file, sizeof(reader->err->file), "%s", reader->lesson->path);
	reader->err->line = reader->line;
	return -EINVAL;
}

static int add_span(struct reader *reader, struct lesson_stop *stop, const char *words, size_t len,
		    const char *fact, size_t fact_len)
{
	struct lesson_span *spans;
	struct lesson_span *span;

	if (!len)
		return fact ? fault(reader, "a claim without words") : 0;
	spans = realloc(stop->spans, (stop->span_cnt + 1) * sizeof(*spans));
	if (!spans)
		return -ENOMEM;
	stop->spans = spans;
	span = &spans[stop->span_cnt++];
	span->words = strndup(words, len);
	span->fact = fact ? strndup(fact, fact_len) : NULL;
	return !span->words || (fact && !span->fact) ? -ENOMEM : 0;
}

/* "plain words, [a claim](its facts), plain words" */
static int split_words(struct reader *reader, struct lesson_stop *stop)
{
	const char *at = reader->text;
	int rc = 0;

	while (!rc && at && *at) {
		const char *open = strchr(at, '['), *middle = open ? strstr(open, "](") : NULL;
		const char *close = middle ? strchr(middle, '\0') : NULL;

		if (!open) {
			rc = add_span(reader, stop, at, strlen(at), NULL, 0);
			break;
		}
		/* facts may hold pairs of parentheses, "ctx()" */
		if (middle) {
			int depth = 0;

			for (close = middle + 1; *close; close++) {
				depth += *close == '(' ? 1 : *close == ')' ? -1 : 0;
				if (!depth)
					break;
			}
		}
		if (!middle || !*close)
			return fault(reader, "a '[' without '](facts)'");
		rc = add_span(reader, stop, at, (size_t)(open - at), NULL, 0);
		if (!rc)
			rc = add_span(reader, stop, open + 1, (size_t)(middle - open) - 1,
				      middle + 2, (size_t)(close - middle) - 2);
		at = close + 1;
	}
	return rc;
}

static int end_stop(struct reader *reader)
{
	struct lesson *lesson = reader->lesson;
	struct lesson_stop *stop;
	int rc;

	if (!lesson->stop_cnt)
		return 0;
	stop = &lesson->stops[lesson->stop_cnt - 1];
	reader->line = stop->line;
	if (!reader->len)
		return fault(reader, "a stop without words");
	rc = split_words(reader, stop);
	reader->len = 0;
	return rc;
}

/* "stop STEP VIEW [KEYS]" */
static int begin_stop(struct reader *reader, const char *arg)
{
	struct lesson *lesson = reader->lesson;
	struct lesson_stop *stops;
	char view[32], keys[64] = "";
	uint32_t line = reader->line;
	unsigned int step;
	int rc = end_stop(reader);

	if (rc)
		return rc;
	reader->line = line;
	if (sscanf(arg, "%u %31s %63s", &step, view, keys) < 2 || view_by_name(view) == VIEW_CNT)
		return fault(reader, "stop takes a step, a view and perhaps keys");
	stops = realloc(lesson->stops, (lesson->stop_cnt + 1) * sizeof(*stops));
	if (!stops)
		return -ENOMEM;
	lesson->stops = stops;
	stops[lesson->stop_cnt] = (struct lesson_stop){
		.step = step,
		.view = view_by_name(view),
		.keys = strdup(keys),
		.line = line,
	};
	return stops[lesson->stop_cnt++].keys ? 0 : -ENOMEM;
}

static int add_text(struct reader *reader, const char *line, size_t len)
{
	char *text;

	if (!reader->lesson->stop_cnt)
		return fault(reader, "title, about, program or stop is expected");
	text = realloc(reader->text, reader->len + len + 2);
	if (!text)
		return -ENOMEM;
	reader->text = text;
	if (reader->len)
		text[reader->len++] = ' ';
	memcpy(text + reader->len, line, len);
	reader->len += len;
	text[reader->len] = '\0';
	return 0;
}

static int set(char **where, const char *value)
{
	free(*where);
	*where = strdup(value);
	return *where ? 0 : -ENOMEM;
}

/* A path beside the lesson's own. */
static int set_program(struct lesson *lesson, const char *name)
{
	const char *slash = strrchr(lesson->path, '/');
	int folder = slash ? (int)(slash - lesson->path) + 1 : 0;

	free(lesson->program);
	if (asprintf(&lesson->program, "%.*s%s", folder, lesson->path, name) < 0)
		lesson->program = NULL;
	return lesson->program ? 0 : -ENOMEM;
}

static int read_line(struct reader *reader, char *line, size_t len)
{
	struct lesson *lesson = reader->lesson;
	char *arg = strchr(line, ' ');

	if (!len || *line == '#')
		return 0;
	if (arg && !strncmp(line, "stop ", 5))
		return begin_stop(reader, arg + 1);
	if (!lesson->stop_cnt && arg) {
		if (!strncmp(line, "title ", 6))
			return set(&lesson->title, arg + 1);
		if (!strncmp(line, "about ", 6))
			return set(&lesson->about, arg + 1);
		if (!strncmp(line, "program ", 8))
			return set_program(lesson, arg + 1);
	}
	return add_text(reader, line, len);
}

static int read_lines(struct reader *reader, char *data, size_t len)
{
	int rc = 0;

	for (char *at = data; !rc && at < data + len;) {
		size_t line = (size_t)((char *)memchr(at, '\n', (size_t)(data + len - at)) - at);

		at[line] = '\0';
		reader->line++;
		loupe_text_clean(at, line, false);
		rc = read_line(reader, at, strlen(at));
		at += line + 1;
	}
	return rc ? rc : end_stop(reader);
}

int lesson_read(const char *path, struct lesson *out, struct loupe_error *err)
{
	struct reader reader = { .lesson = out, .err = err };
	const char *slash = strrchr(path, '/');
	char *data, *whole;
	size_t len;
	int rc;

	*out = (struct lesson){ .number = (uint32_t)strtoul(slash ? slash + 1 : path, NULL, 10) };
	rc = input_read(path, &data, &len, err);
	if (rc)
		return rc;
	/* the last line may lack its end */
	whole = realloc(data, len + 1);
	if (!whole || set(&out->path, path)) {
		free(whole ? whole : data);
		return loupe_error_set(err, -ENOMEM, "out of memory");
	}
	whole[len] = '\n';
	rc = read_lines(&reader, whole, len + 1);
	if (!rc && (!out->title || !out->about || !out->program || !out->stop_cnt))
		rc = fault(&reader, "a lesson has a title, about, a program and stops");
	if (rc == -ENOMEM)
		loupe_error_set(err, rc, "out of memory");
	free(reader.text);
	free(whole);
	return rc;
}

void lesson_finish(struct lesson *lesson)
{
	for (uint32_t i = 0; i < lesson->stop_cnt; i++) {
		struct lesson_stop *stop = &lesson->stops[i];

		for (uint32_t n = 0; n < stop->span_cnt; n++) {
			free(stop->spans[n].words);
			free(stop->spans[n].fact);
		}
		free(stop->spans);
		free(stop->keys);
	}
	free(lesson->stops);
	free(lesson->path);
	free(lesson->title);
	free(lesson->about);
	free(lesson->program);
	*lesson = (struct lesson){ 0 };
}
