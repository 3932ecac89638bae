// SPDX-License-Identifier: GPL-2.0-only
/* What lessons say is so. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bpfloupe/load.h"
#include "lesson.h"

/* A lesson and the trace of its program. */
struct opened {
	struct lesson lesson;
	struct loupe_program_list progs;
	struct loupe_trace *trace;
	struct loupe_names *names;
	struct loupe_verify_result result;
	struct lesson_facts facts;
};

static void open_lesson(uint32_t n, struct opened *opened)
{
	struct loupe_load_opts load = { .size = sizeof(load) };
	struct loupe_verify_opts opts;
	struct loupe_error err;

	*opened = (struct opened){ 0 };
	if (lesson_open(n, &opened->lesson, &err))
		fail_msg("%s:%u: %s", err.file, err.line, err.message);
	if (loupe_load_file(opened->lesson.program, &load, &opened->progs, &err))
		fail_msg("%s: %s", opened->lesson.program, err.message);
	assert_int_equal(opened->progs.cnt, 1);
	assert_non_null(opened->progs.progs[0].image);
	opened->trace = loupe_trace_create(opened->progs.progs[0].image);
	assert_non_null(opened->trace);
	loupe_verify_opts_init(&opts);
	opts.listeners[opts.listener_cnt++] = loupe_trace_listener(opened->trace);
	assert_int_equal(loupe_verify(opened->progs.progs[0].image, &opts, &opened->result), 0);
	assert_int_equal(loupe_trace_finish(opened->trace), 0);
	assert_int_equal(loupe_names_create(opened->progs.progs[0].image, &opened->names), 0);
	assert_int_equal(lesson_facts_init(&opened->facts, opened->trace,
					   opened->progs.progs[0].image, opened->names), 0);
}

static void close_lesson(struct opened *opened)
{
	lesson_facts_finish(&opened->facts);
	loupe_names_destroy(opened->names);
	loupe_trace_destroy(opened->trace);
	loupe_verify_result_finish(&opened->result);
	loupe_program_list_finish(&opened->progs);
	lesson_finish(&opened->lesson);
}

static void six_lessons_in_their_order(void **state)
{
	static const char *const titles[] = { "Hits", "Misses", "Liveness", "Precision", "Eviction",
					      "Convergence" };
	struct lesson lesson;
	struct loupe_error err;

	(void)state;
	assert_int_equal(lesson_cnt(), 6);
	for (uint32_t n = 1; n <= 6; n++) {
		assert_int_equal(lesson_open(n, &lesson, &err), 0);
		assert_int_equal(lesson.number, n);
		assert_string_equal(lesson.title, titles[n - 1]);
		assert_in_range(lesson.stop_cnt, 3, 8);
		lesson_finish(&lesson);
	}
	assert_int_equal(lesson_open(7, &lesson, &err), -ENOENT);
	lesson_finish(&lesson);
}

static void every_claim_is_so(void **state)
{
	uint32_t claims = 0;
	char why[400];

	(void)state;
	for (uint32_t n = 1; n <= lesson_cnt(); n++) {
		struct opened opened;

		open_lesson(n, &opened);
		assert_int_equal(opened.result.verdict, LOUPE_ACCEPTED);
		for (uint32_t i = 0; i < opened.lesson.stop_cnt; i++) {
			const struct lesson_stop *stop = &opened.lesson.stops[i];

			for (uint32_t k = 0; k < stop->span_cnt; k++) {
				const struct lesson_span *span = &stop->spans[k];

				if (!span->fact)
					continue;
				claims++;
				if (!lesson_holds(&opened.facts, stop->step, span->fact, why,
						  sizeof(why)))
					fail_msg("%s:%u: '%s' (%s): %s", opened.lesson.path,
						 stop->line, span->words, span->fact, why);
			}
		}
		close_lesson(&opened);
	}
	assert_true(claims > 60);
}

static bool is_part(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

/* True if a fact has the number as a word, whatever stands before it ("#1", "R6"). */
static bool has_number(const char *text, const char *digits, size_t len)
{
	for (const char *at = text; *at; at++) {
		if (strncmp(at, digits, len) == 0 && !isdigit((unsigned char)at[len]) &&
		    (at == text || !isdigit((unsigned char)at[-1])))
			return true;
	}
	return false;
}

/* Registers and slots are names, "lesson 5" and "0 × 3 + 3" say nothing of the trace. */
static bool is_name(const char *text, const char *at)
{
	if (at > text && (at[-1] == 'r' || at[-1] == 'R') && (at == text + 1 || !is_part(at[-2])))
		return true;
	if (at >= text + 3 && strncmp(at - 3, "fp-", 3) == 0)
		return true;
	if (at >= text + 11 && strncmp(at - 11, "heckpoint #", 11) == 0)
		return true;
	return at >= text + 7 && strncmp(at - 7, "lesson ", 7) == 0;
}

static void numbers_stand_in_claims(void **state)
{
	(void)state;
	for (uint32_t n = 1; n <= lesson_cnt(); n++) {
		struct lesson lesson;
		struct loupe_error err;

		assert_int_equal(lesson_open(n, &lesson, &err), 0);
		for (uint32_t i = 0; i < lesson.stop_cnt; i++) {
			const struct lesson_stop *stop = &lesson.stops[i];

			for (uint32_t k = 0; k < stop->span_cnt; k++) {
				const struct lesson_span *span = &stop->spans[k];
				const char *at = span->words;

				while (*(at += strcspn(at, "0123456789"))) {
					size_t len = strspn(at, "0123456789");
					bool fine = span->fact ? has_number(span->fact, at, len)
							       : is_name(span->words, at) ||
									 strncmp(at, "0 × 3 + 3",
										 9) == 0;

					if (strncmp(at, "0 × 3 + 3", 9) == 0)
						len = strlen("0 × 3 + 3");
					if (!fine && !(span->fact && is_name(span->words, at)))
						fail_msg("%s:%u: the number in '%s' is not checked",
							 lesson.path, stop->line, at);
					at += len;
				}
			}
		}
		lesson_finish(&lesson);
	}
}

/* A fact whose last number is another one does not hold: facts really look. */
static void other_numbers_are_not_so(void **state)
{
	uint32_t tried = 0;
	char other[400], why[400];

	(void)state;
	for (uint32_t n = 1; n <= lesson_cnt(); n++) {
		struct opened opened;

		open_lesson(n, &opened);
		for (uint32_t i = 0; i < opened.lesson.stop_cnt; i++) {
			const struct lesson_stop *stop = &opened.lesson.stops[i];

			for (uint32_t k = 0; k < stop->span_cnt; k++) {
				const char *fact = stop->spans[k].fact, *end;

				/* one number, at the end */
				if (!fact || strstr(fact, " ; "))
					continue;
				end = fact + strlen(fact);
				while (end > fact && isdigit((unsigned char)end[-1]))
					end--;
				if (!*end || (end > fact && (end[-1] == 'R' || end[-1] == '-')) ||
				    strncmp(fact, "gone", 4) == 0 || strncmp(fact, "alive", 5) == 0)
					continue;
				snprintf(other, sizeof(other), "%.*s%lu", (int)(end - fact), fact,
					 strtoul(end, NULL, 10) + 1);
				tried++;
				if (lesson_holds(&opened.facts, stop->step, other, why,
						 sizeof(why)))
					fail_msg("%s:%u: %s holds, and %s too", opened.lesson.path,
						 stop->line, fact, other);
			}
		}
		close_lesson(&opened);
	}
	assert_true(tried > 30);
}

/* Each fact has a case that holds, among the lessons or here, and one that does not. */
static void facts_say_what_is_so_instead(void **state)
{
	static const struct {
		uint32_t lesson, step;
		const char *fact, *why; /* NULL: it holds */
	} cases[] = {
		{ 1, 14, "step 14 ; visits 2 ; accepted ; alive #1", NULL },
		{ 1, 14, "goes-on", "the path ends" },
		{ 1, 14, "insn 8", "the insn is 9" },
		{ 1, 14, "compared #1 miss", "the outcome is hit" },
		{ 1, 14, "says #1 it covers this state: the path ends here", NULL },
		{ 1, 14, "says #1 nothing", "it says: it covers this state: the path ends here" },
		{ 1, 14, "differs #1 R8", "the first difference is in nothing" },
		{ 1, 14, "evicts #1", "it is not evicted at this step" },
		{ 1, 14, "gone #1", "it is still there" },
		{ 1, 6, "alive #1", "it is not there" },
		{ 1, 14, "at #2 9", "there is no checkpoint #2" },
		{ 1, 14, "value R9 0", "it holds not written" },
		{ 1, 14, "value X 0", "'X' is no register or slot" },
		{ 1, 14, "value R11 0", "'R11' is no register or slot" },
		{ 1, 14, "value fp-12 0", "'fp-12' is no register or slot" },
		{ 1, 14, "precise #1 R7", "it is not precise" },
		{ 1, 14, "live R6", "it is dead" },
		{ 1, 14, "dead R7", "it is live" },
		{ 1, 14, "writer R8 2", "insn 7 wrote it" },
		{ 1, 14, "leaves 7", "no branch is left for later" },
		{ 1, 14, "starts", "no path starts here" },
		{ 1, 7, "pruned", "the path is not pruned" },
		{ 1, 7, "ends", "the path goes on" },
		{ 1, 7, "compared #1 hit", "#1 is not compared at step 7" },
		{ 1, 7, "demands R7", "the exact value of R7 is not demanded here" },
		{ 1, 7, "marks #1 R7", "no such mark is made here" },
		{ 1, 7, "loop 2 3", "they are in no common loop" },
		{ 1, 7, "with evict=off 16", "it processes 15 instructions" },
		{ 1, 7, "key walk s step", NULL },
		{ 1, 7, "key walk s step-back", "the key asks for step" },
		{ 1, 7, "key nowhere s step", "there is no view 'nowhere'" },
		{ 1, 7, "insn", "'insn' takes 1 words" },
		{ 1, 7, "insn x", "'x' is no number" },
		{ 1, 7, "colour red", "there is no fact 'colour'" },
		{ 1, 99, "insn 1", "there is no step 99" },
		{ 5, 52, "counters #2 0 3", "it has 0 hits and 4 misses" },
		{ 4, 19, "imprecise #1 R7", "it is precise" },
	};
	char why[400];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct opened opened;
		bool holds;

		open_lesson(cases[i].lesson, &opened);
		holds = lesson_holds(&opened.facts, cases[i].step, cases[i].fact, why, sizeof(why));
		if (holds != !cases[i].why || strcmp(why, cases[i].why ? cases[i].why : ""))
			fail_msg("%s: %s", cases[i].fact, why);
		close_lesson(&opened);
	}
}

static void faults_of_a_file_are_told(void **state)
{
	static const struct {
		const char *text, *why;
		uint32_t line;
	} cases[] = {
		{ "title A\nabout B\nprogram c\nstop 1 walk\n[x](insn 1\n",
		  "a '[' without '](facts)'", 4 },
		{ "title A\nabout B\nprogram c\nstop 1 walk\nstop 2 walk\nx\n",
		  "a stop without words", 4 },
		{ "title A\nstop x walk\n", "stop takes a step, a view and perhaps keys", 2 },
		{ "title A\nstop 1 garden\n", "stop takes a step, a view and perhaps keys", 2 },
		{ "# only this\nwords\n", "title, about, program or stop is expected", 2 },
		{ "title A\nabout B\nstop 1 walk\nx\n",
		  "a lesson has a title, about, a program and stops", 3 },
		{ "title A\nabout B\nprogram c\nstop 1 walk\n[](insn 1)\n", "a claim without words",
		  4 },
	};
	char path[] = "/tmp/lesson.XXXXXX";
	int fd = mkstemp(path);

	(void)state;
	assert_true(fd >= 0);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct lesson lesson;
		struct loupe_error err = { 0 };
		FILE *out = fopen(path, "w");

		assert_non_null(out);
		fputs(cases[i].text, out);
		fclose(out);
		assert_int_equal(lesson_read(path, &lesson, &err), -EINVAL);
		assert_string_equal(err.message, cases[i].why);
		assert_int_equal(err.line, cases[i].line);
		lesson_finish(&lesson);
	}
	close(fd);
	unlink(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(six_lessons_in_their_order),
		cmocka_unit_test(every_claim_is_so),
		cmocka_unit_test(numbers_stand_in_claims),
		cmocka_unit_test(other_numbers_are_not_so),
		cmocka_unit_test(facts_say_what_is_so_instead),
		cmocka_unit_test(faults_of_a_file_are_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
