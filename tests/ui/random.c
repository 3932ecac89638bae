// SPDX-License-Identifier: GPL-2.0-only
/*
 * Random keys, commands and sizes: whatever is typed, the explorer goes on, and what it draws is
 * harmless. The seed is printed when a session fails.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tui.h"

enum { SESSIONS = 12, LINES = 50 };

static const char *const keys[] = {
	"j",	 "k",	    "h",       "l",	      "g",     "n",	 "N",	   "y",
	"s",	 "S",	    "b",       ".",	      ",",     "]",	 "[",	   "}",
	"{",	 ">",	    "<lt>",    "e",	      "w",     "J",	 "H",	   "t",
	"f",	 "u",	    "c",       "o",	      "z",     "-",	 "v",	   "L",
	"4",	 "5",	    "7",       "9",	      "+",     "d",	 "D",	   "v",
	"V",	 "B",	    "C",       "m",	      "M",     "O",	 "<Left>", "<Right>",
	"0",	 "1",	    "2",       "3",	      "8",     "?",	 "(",	   ")",
	"/",	 "<Tab>",   "<S-Tab>", "<Enter>",     "<Esc>", "<PgUp>", "<PgDn>", "<Home>",
	"<End>", "<Space>", "<C-l>",   "<Backspace>", "x",
};

static const char *const commands[] = {
	":goto 5",
	":goto s3",
	":goto #1",
	":goto :7",
	":goto s999999",
	":goto nowhere",
	":edit 3",
	":edit -1",
	":edit 99999",
	":level 6",
	":level 9",
	":view cfg",
	":view walk",
	":view tree",
	":view prune",
	":view calls",
	":view log",
	":view list",
	":view help",
	":view none",
	":theme light",
	":theme x",
	":search r1",
	":next-hit",
	":open look_up",
	":verify",
	":zoom",
	"/exit",
	"g7",
	":nonsense",
	":",
	":export /dev/null",
	":fold",
	":overview",
	"/zzz",
};

static const int widths[] = { 1, 5, 39, 40, 41, 60, 80, 100, 140, 240 };
static const int heights[] = { 1, 5, 9, 10, 11, 16, 24, 45, 80 };

static uint32_t next_random(uint32_t *state)
{
	/* xorshift, so that a seed means the same everywhere */
	*state ^= *state << 13;
	*state ^= *state >> 17;
	*state ^= *state << 5;
	return *state;
}

#define PICK(state, table) ((table)[next_random(state) % (sizeof(table) / sizeof((table)[0]))])

static void write_script(FILE *out, uint32_t seed)
{
	uint32_t state = seed * 2654435761u + 1;

	for (int i = 0; i < LINES; i++) {
		uint32_t kind = next_random(&state) % 16;

		if (kind < 3) {
			/* typed, not given as a line of its own, whose error would end the script
			 */
			fprintf(out, "k%s<Enter>\n", PICK(&state, commands));
		} else if (kind == 3) {
			/* two statements: the order of arguments' evaluation is nobody's promise */
			int w = PICK(&state, widths);
			int h = PICK(&state, heights);

			fprintf(out, ":resize %dx%d\n", w, h);
		} else {
			for (uint32_t n = next_random(&state) % 6 + 1; n; n--)
				fputs(PICK(&state, keys), out);
			fputc('\n', out);
		}
	}
}

static void run_lines(const char *const *files, uint32_t file_cnt, uint32_t seed)
{
	char path[] = "/tmp/bpfloupe-random-XXXXXX";
	struct tui_options opts = { .files = files, .file_cnt = file_cnt, .script = path };
	int fd = mkstemp(path), status;
	FILE *out = fdopen(fd, "w");

	assert_non_null(out);
	loupe_verify_opts_init(&opts.verify);
	write_script(out, seed);
	fclose(out);
	status = tui_run(&opts);
	unlink(path);
	if (status)
		fail_msg("seed %u ends with %d", seed, status);
}

static void one_program(void **state)
{
	const char *const files[] = { "data/samples/evicted-checkpoint.bpf.o" };

	(void)state;
	for (uint32_t seed = 1; seed <= SESSIONS; seed++)
		run_lines(files, 1, seed);
}

static void a_rejected_program(void **state)
{
	const char *const files[] = { "data/samples/lost-bound.bpf.o" };

	(void)state;
	for (uint32_t seed = 100; seed < 100 + SESSIONS; seed++)
		run_lines(files, 1, seed);
}

static void a_filter(void **state)
{
	const char *const files[] = { "data/filters/worker.c" };

	(void)state;
	for (uint32_t seed = 200; seed < 200 + SESSIONS; seed++)
		run_lines(files, 1, seed);
}

static void several(void **state)
{
	const char *const files[] = { "tests/ui/files/several.bpfasm", "data/filters/dns.ddd",
				      "data/samples/unrolled-and-loop.bpf.o" };

	(void)state;
	for (uint32_t seed = 300; seed < 300 + SESSIONS; seed++)
		run_lines(files, 3, seed);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_program),
		cmocka_unit_test(a_rejected_program),
		cmocka_unit_test(a_filter),
		cmocka_unit_test(several),
	};

	if (argc != 2 || chdir(argv[1])) {
		fprintf(stderr, "usage: random SOURCE_ROOT\n");
		return 2;
	}
	/* error lines of the scripts are not what is tested */
	if (!freopen("/dev/null", "w", stderr))
		return 2;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
