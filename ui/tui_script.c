// SPDX-License-Identifier: GPL-2.0-only
/*
 * Scripts: a line is a command (":goto 57") or keys ("ss<Enter>/drop<Enter>"); what begins with "#
 * " is a remark. Each line begins when all work is done, so that a script always does the same.
 */
#include "tui_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Of the process: what others do on the machine does not count. */
static double now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
	return (double)ts.tv_sec * 1e3 + (double)ts.tv_nsec / 1e6;
}

static bool obey_keys(struct tui *tui, const char *line)
{
	while (*line && !tui->quit) {
		int key = key_parse(&line);

		if (key == K_NONE)
			return false;
		tui_key(tui, key);
		jobs_wait(tui->jobs);
		tui_view(tui);
		jobs_wait(tui->jobs);
	}
	return true;
}

static bool obey(struct tui *tui, const char *line)
{
	/* a view that opens may begin work of its own */
	for (int i = 0; i < 3; i++) {
		jobs_wait(tui->jobs);
		tui_draw(tui);
	}
	if (*line == ':' && !tui->prompt.open) {
		/* what looks at the screen leaves it as it is */
		if (strncmp(line, ":expect ", 8) != 0 && strncmp(line, ":save-screen ", 13) != 0 &&
		    strncmp(line, ":within ", 8) != 0)
			tui->message[0] = '\0';
		return tui_command(tui, line + 1);
	}
	return obey_keys(tui, line);
}

int tui_script(struct tui *tui, const char *path)
{
	FILE *in = strcmp(path, "-") == 0 ? stdin : fopen(path, "r");
	char *line = NULL;
	size_t cap = 0;
	unsigned int number = 0;
	double before;
	bool obeyed;
	ssize_t len;

	if (!in) {
		fprintf(stderr, "bpfloupe: cannot read %s: %s\n", path, strerror(errno));
		return 2;
	}
	while (!tui->quit && (len = getline(&line, &cap, in)) >= 0) {
		number++;
		while (len && (line[len - 1] == '\n' || line[len - 1] == '\r'))
			line[--len] = '\0';
		if (!len || strncmp(line, "# ", 2) == 0 || strcmp(line, "#") == 0)
			continue;
		before = now_ms();
		obeyed = obey(tui, line);
		if (strncmp(line, ":within ", 8) != 0) {
			tui_draw(tui);
			tui->took_ms = now_ms() - before;
		}
		if (!obeyed) {
			fprintf(stderr, "bpfloupe: %s:%u: %s\n", path, number,
				*tui->message ? tui->message : "no such key");
			tui->status = 2;
			break;
		}
		if (tui->status) {
			fprintf(stderr, "bpfloupe: %s:%u: failed\n", path, number);
			break;
		}
	}
	if (tui->slowest_ms > 0)
		fprintf(stderr, "bpfloupe: slowest line that had to be within a time: %.1f ms\n",
			tui->slowest_ms);
	if (ferror(in)) {
		fprintf(stderr, "bpfloupe: cannot read %s: %s\n", path, strerror(errno));
		tui->status = 2;
	}
	free(line);
	if (in != stdin)
		fclose(in);
	return tui->status;
}
