// SPDX-License-Identifier: GPL-2.0-only
/* bpfloupe --lesson: the list, a lesson as text, or a lesson in the explorer. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "commands.h"
#include "lesson.h"
#include "tui.h"
#include "view.h"

static int list_lessons(void)
{
	struct loupe_error err = { 0 };
	uint32_t cnt = lesson_cnt();

	if (!cnt)
		return complain_text(
			"the lessons are missing; BPFLOUPE_LESSONS can name their folder");
	for (uint32_t n = 1; n <= cnt; n++) {
		struct lesson lesson;
		int rc = lesson_open(n, &lesson, &err);

		if (!rc)
			printf("%u  %-12s %s\n", n, lesson.title, lesson.about);
		lesson_finish(&lesson);
		if (rc)
			return complain(&err);
	}
	printf("\nbpfloupe --lesson N opens one; n and p go from stop to stop.\n");
	return STATUS_OK;
}

/* Words broken at blanks, indented. */
static void print_words(const struct lesson_stop *stop)
{
	enum { WIDTH = 92 };
	char *text = NULL, *save = NULL;
	size_t len = 0, column = 0;
	FILE *out = open_memstream(&text, &len);

	if (!out)
		return;
	for (uint32_t i = 0; i < stop->span_cnt; i++)
		fputs(stop->spans[i].words, out);
	fclose(out);
	for (char *word = strtok_r(text, " ", &save); word; word = strtok_r(NULL, " ", &save)) {
		if (column && column + 1 + strlen(word) > WIDTH) {
			putchar('\n');
			column = 0;
		}
		column += (size_t)printf(column ? " %s" : "   %s", word);
	}
	putchar('\n');
	free(text);
}

static void print_lesson(const struct lesson *lesson)
{
	printf("Lesson %u: %s\n%s\n%s\n", lesson->number, lesson->title, lesson->about,
	       lesson->program);
	for (uint32_t i = 0; i < lesson->stop_cnt; i++) {
		printf("\n%u. step %u, %s\n", i + 1, lesson->stops[i].step,
		       view_ops(lesson->stops[i].view)->title);
		print_words(&lesson->stops[i]);
	}
}

int cmd_lesson(const struct args *args, const struct tui_options *opts)
{
	struct tui_options with = *opts;
	struct loupe_error err = { 0 };
	const char *program;
	struct lesson lesson;
	int status = STATUS_OK;

	if (args->file_cnt)
		return complain_text("--lesson brings its own program; leave out %s",
				     args->files[0]);
	if (!args->lesson)
		return list_lessons();
	if (lesson_open(args->lesson, &lesson, &err)) {
		status = complain(&err);
	} else if (!args->script && !isatty(STDOUT_FILENO)) {
		print_lesson(&lesson);
	} else {
		program = lesson.program;
		with.files = &program;
		with.file_cnt = 1;
		with.lesson = &lesson;
		status = tui_run(&with);
	}
	lesson_finish(&lesson);
	return status;
}
