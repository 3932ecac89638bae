// SPDX-License-Identifier: GPL-2.0-only
/* Explanations, against runs of the filters that they are about. */
#include <linux/audit.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "bpfloupe/why.h"
#include "filter_random.h"
#include "policy_check.h"

enum { FILTERS = 1500, INPUTS = 40, MAX_INSNS = 50 };

static const char policy_text[] =
	"@default return 1\n" /* line 1 */
	"read: allow\n"	      /* 2 */
	"ioctl: arg0 == 3 && arg1 == 0x5401 || arg0 == 3 && arg1 == 0x5413\n"
	"fcntl: arg0 == 7\n"	 /* 4 */
	"openat: arg2 in 0x7\n"; /* 5 */

static struct loupe_why *explain(const struct loupe_filter *filter,
				 const struct loupe_policy *policy)
{
	struct loupe_why *why;
	struct loupe_error err = { 0 };

	assert_int_equal(loupe_why_create(filter, policy, AUDIT_ARCH_X86_64, &why, &err), 0);
	return why;
}

/* The class of a call. */
static uint32_t class_of(const struct loupe_why *why, const struct loupe_seccomp_data *data)
{
	uint32_t cnt, best = UINT32_MAX;
	const struct loupe_callers *callers = loupe_why_callers(why, &cnt);
	int64_t own = loupe_why_callers_of(why, data->arch, data->nr);

	if (own >= 0)
		return (uint32_t)own;
	for (uint32_t c = 0; c < cnt; c++) {
		bool x32 = callers[c].arch == AUDIT_ARCH_X86_64 && data->nr >= 0x40000000;

		if (callers[c].kind == LOUPE_CALLERS_PACKET ||
		    (callers[c].kind == LOUPE_CALLERS_ARCH && best == UINT32_MAX) ||
		    (callers[c].kind == (x32 ? LOUPE_CALLERS_X32 : LOUPE_CALLERS_OTHER) &&
		     callers[c].arch == data->arch))
			best = c;
	}
	assert_int_not_equal(best, UINT32_MAX);
	return best;
}

static bool fits(const struct loupe_arrival *arrival, const struct loupe_seccomp_data *data)
{
	uint32_t words[LOUPE_WHY_WORDS];

	memcpy(words, data, sizeof(words));
	for (uint32_t w = 0; w < LOUPE_WHY_WORDS; w++) {
		if (words[w] < arrival->lo[w] || words[w] > arrival->hi[w])
			return false;
	}
	return true;
}

/* A filter that only loads, masks and compares, as those of seccomp do. */
static void make_plain(struct random_source *r, struct loupe_cbpf_insn *insns, uint32_t cnt)
{
	static const uint16_t jumps[] = { BPF_JEQ, BPF_JGT, BPF_JGE, BPF_JSET };
	static const uint32_t words[] = { 0, 4, 16, 20, 24 };

	for (uint32_t i = 0; i < cnt; i++) {
		uint32_t room = cnt - i - 1;

		insns[i] = (struct loupe_cbpf_insn){ .k = random_constant(r) };
		if (room < 4) {
			insns[i] = (struct loupe_cbpf_insn){ BPF_RET | BPF_K, 0, 0, room };
		} else if (!i || random_below(r, 4) == 0) {
			insns[i].code = BPF_LD | BPF_W | BPF_ABS;
			insns[i].k = words[random_below(r, 5)];
		} else if (random_below(r, 10) == 0) {
			insns[i].code = BPF_ALU | BPF_AND | BPF_K;
		} else {
			insns[i].code = BPF_JMP | BPF_K | jumps[random_below(r, 4)];
			insns[i].jt = (uint8_t)random_jump(r, room, 12);
			insns[i].jf = (uint8_t)random_jump(r, room, 12);
		}
	}
}

/* Each step of a run is an arrival of the run's class; the run's words are what it says. */
static void check_run(const struct loupe_why *why, const struct loupe_filter *filter,
		      const struct loupe_seccomp_data *data)
{
	uint32_t path[MAX_INSNS + 8], callers = class_of(why, data);
	struct loupe_filter_input input = { .data = data, .len = sizeof(*data) };
	struct loupe_filter_run run = { .path = path };

	assert_int_equal(loupe_filter_eval(filter, &input, &run, NULL), 0);
	for (uint32_t n = 0; n < run.executed; n++) {
		uint32_t cnt, loaded = LOUPE_NONE;
		const struct loupe_arrival *arrivals = loupe_why_arrivals(why, path[n], &cnt);
		bool found = false;

		/* what A holds, where the newest of what makes it is a load */
		for (uint32_t i = 0; i < n; i++) {
			uint16_t class = BPF_CLASS(filter->insns[path[i]].code);

			if (class == BPF_LD)
				loaded = path[i];
			else if (class == BPF_ALU || class == BPF_MISC)
				loaded = LOUPE_NONE;
		}
		for (uint32_t i = 0; i < cnt && !found; i++) {
			const struct loupe_arrival *a = &arrivals[i];

			found = a->from == (n ? path[n - 1] : LOUPE_NONE) &&
				a->callers[callers / 64] >> (callers % 64) & 1 && fits(a, data) &&
				(loaded == LOUPE_NONE || a->a.kind == LOUPE_HOLD_MIXED ||
				 a->a.at == loaded);
		}
		if (!found)
			fail_msg("step %u, insn %u: no arrival from %u", n, path[n],
				 n ? path[n - 1] : 0);
	}
}

static void check_witness(const struct loupe_why *why, const struct loupe_filter *filter,
			  uint32_t test, uint32_t *found)
{
	struct loupe_seccomp_data call[2];
	uint32_t answer[2], different = 0, a[LOUPE_WHY_WORDS], b[LOUPE_WHY_WORDS];

	if (!loupe_why_witness(why, test, call, answer))
		return;
	(*found)++;
	memcpy(a, &call[0], sizeof(a));
	memcpy(b, &call[1], sizeof(b));
	for (uint32_t w = 0; w < LOUPE_WHY_WORDS; w++)
		different += a[w] != b[w];
	assert_int_equal(different, 1);
	assert_int_not_equal(answer[0], answer[1]);
	for (int i = 0; i < 2; i++) {
		uint32_t path[MAX_INSNS + 8], target;
		struct loupe_filter_input input = { .data = &call[i], .len = sizeof(call[i]) };
		struct loupe_filter_run run = { .path = path };
		bool there = false;

		target = test + 1 + (i ? filter->insns[test].jf : filter->insns[test].jt);
		assert_int_equal(loupe_filter_eval(filter, &input, &run, NULL), 0);
		assert_int_equal(run.result, answer[i]);
		for (uint32_t n = 0; n + 1 < run.executed; n++)
			there |= path[n] == test && path[n + 1] == target;
		assert_true(there);
	}
}

static void runs_are_what_is_explained(void **state)
{
	struct random_source r = { .state = 7 };
	uint32_t tests = 0, witnesses = 0;

	(void)state;
	for (int n = 0; n < FILTERS; n++) {
		struct loupe_cbpf_insn insns[MAX_INSNS];
		struct loupe_filter *filter;
		struct loupe_why *why;
		uint32_t cnt = 30;

		if (n % 2)
			make_plain(&r, insns, cnt);
		else
			cnt = random_filter(&r, true, insns, MAX_INSNS);

		if (loupe_filter_create("t", insns, cnt, LOUPE_FILTER_SECCOMP, &filter, NULL))
			continue;
		why = explain(filter, NULL);
		for (int i = 0; i < INPUTS; i++) {
			struct loupe_seccomp_data data;

			random_seccomp_data(&r, insns, cnt, &data);
			if (i % 2)
				data.arch = AUDIT_ARCH_X86_64;
			check_run(why, filter, &data);
		}
		for (uint32_t i = 0; i < cnt; i++) {
			tests += BPF_CLASS(insns[i].code) == BPF_JMP;
			check_witness(why, filter, i, &witnesses);
		}
		loupe_why_destroy(why);
		loupe_filter_destroy(filter);
	}
	print_message("%u of %u comparisons shown to matter\n", witnesses, tests);
	assert_true(witnesses > 300);
}

static struct loupe_filter *optimized(const struct loupe_filter *filter, uint32_t level,
				      struct loupe_rewrite **rw)
{
	struct loupe_filter_opts opts = { .level = level };
	struct loupe_filter *after;

	assert_int_equal(loupe_filter_optimize(filter, &opts, rw, NULL), 0);
	assert_int_equal(
		loupe_filter_from_rewrite(filter, *rw, loupe_rewrite_edit_cnt(*rw), &after, NULL),
		0);
	return after;
}

/* The only instruction with this code and constant that a call gets to; -1: not one. */
static int64_t find_insn(const struct loupe_why *why, uint32_t nr, uint16_t code, uint32_t k)
{
	const struct loupe_filter *filter = loupe_why_filter(why);
	int64_t callers = loupe_why_callers_of(why, AUDIT_ARCH_X86_64, nr), found = -1;

	for (uint32_t i = 0; i < filter->cnt; i++) {
		if (filter->insns[i].code != code || filter->insns[i].k != k ||
		    !loupe_why_reaches(why, (uint32_t)callers, i))
			continue;
		if (found >= 0)
			return -1;
		found = i;
	}
	return found;
}

/* The high half of args[0] is loaded when A holds half of args[1] for ioctl, args[0].lo for fcntl.
 */
static void check_ways_to(const struct loupe_why *why, uint32_t load)
{
	uint32_t cnt;
	const struct loupe_arrival *a = loupe_why_arrivals(why, load, &cnt);

	assert_true(cnt >= 2);
	for (uint32_t n = 0; n < cnt; n++) {
		uint32_t ioctl = (uint32_t)loupe_why_callers_of(why, AUDIT_ARCH_X86_64, 16);
		bool is_ioctl = a[n].callers[ioctl / 64] >> (ioctl % 64) & 1;

		assert_int_equal(a[n].caller_cnt, 1);
		assert_int_equal(a[n].a.kind, LOUPE_HOLD_WORD);
		/* the halves of args[1] may be asked for in either order */
		assert_int_equal(loupe_why_filter(why)->insns[a[n].a.at].k & ~4u,
				 is_ioctl ? 24 : 16);
		assert_int_equal(a[n].lo[4], is_ioctl ? 3 : 7);
		assert_int_equal(a[n].hi[4], is_ioctl ? 3 : 7);
	}
}

/* Rules: 0 read, 1 and 2 ioctl, 3 fcntl, 4 openat. */
static void instructions_serve_their_rules(void **state)
{
	struct loupe_policy *policy = read_policy(policy_text, NULL);
	struct loupe_filter *filter = compile_policy(policy);

	(void)state;
	assert_int_equal(policy->rule_cnt, 5);
	for (uint32_t level = 0; level <= 3; level++) {
		struct loupe_rewrite *rw;
		struct loupe_filter *after = optimized(filter, level, &rw);
		struct loupe_why *why = explain(after, policy);
		int64_t fd = find_insn(why, 16, BPF_LD | BPF_W | BPF_ABS, 16);
		int64_t cmd = find_insn(why, 16, BPF_JMP | BPF_JEQ | BPF_K, 0x5413);
		int64_t fd_hi = find_insn(why, 16, BPF_LD | BPF_W | BPF_ABS, 20);
		uint32_t first;

		/* args[0] is loaded for both rules of ioctl and nobody else */
		assert_true(fd >= 0);
		assert_int_equal(loupe_why_rule_cnt(why, (uint32_t)fd, &first), 2);
		assert_int_equal(first, 1);
		assert_true(loupe_why_serves_line(why, (uint32_t)fd, 0, 3));
		assert_false(loupe_why_serves_line(why, (uint32_t)fd, 0, 4));
		/* a constant of one rule serves that one, who else gets there or not */
		assert_true(cmd >= 0);
		assert_true(loupe_why_serves(why, (uint32_t)cmd, 2));
		assert_false(loupe_why_serves(why, (uint32_t)cmd, 1));
		/* the high half of args[0] is the last question for ioctl and fcntl */
		assert_true(fd_hi >= 0);
		assert_true(loupe_why_serves(why, (uint32_t)fd_hi, 1));
		assert_true(loupe_why_serves(why, (uint32_t)fd_hi, 2));
		assert_true(loupe_why_serves(why, (uint32_t)fd_hi, 3));
		assert_int_equal(loupe_why_rule_cnt(why, (uint32_t)fd_hi, NULL), 3);
		check_ways_to(why, (uint32_t)fd_hi);
		/* read has nothing to ask for */
		assert_int_equal(find_insn(why, 0, BPF_LD | BPF_W | BPF_ABS, 16), -1);
		assert_int_equal(loupe_why_rule_share(why, 0).loads, 0);
		assert_int_equal(loupe_why_line_share(why, 0, 3).loads, 4);
		loupe_why_destroy(why);
		loupe_rewrite_destroy(rw);
		loupe_filter_destroy(after);
	}
	loupe_filter_destroy(filter);
	loupe_policy_destroy(policy);
}

#define LD(k)                                       \
	{                                           \
		BPF_LD | BPF_W | BPF_ABS, 0, 0, (k) \
	}
#define JEQ(k, jt, jf)                                     \
	{                                                  \
		BPF_JMP | BPF_JEQ | BPF_K, (jt), (jf), (k) \
	}
#define AND(k)                                       \
	{                                            \
		BPF_ALU | BPF_AND | BPF_K, 0, 0, (k) \
	}
#define RET(k)                             \
	{                                  \
		BPF_RET | BPF_K, 0, 0, (k) \
	}

static void loads_are_explained(void **state)
{
	static const struct loupe_cbpf_insn insns[] = {
		LD(0), JEQ(16, 0, 2), LD(24), AND(7), LD(24), JEQ(2, 0, 1), RET(1), RET(2),
	};
	static const char *const wanted[] = {
		"# instructions                8        8\n",
		"#   args[1].lo                2        2\n",
		"\n2: A = args[1].lo (2 before)\n    A holds nr, loaded at 0, ioctl, other "
		"architectures\n"
		"        from 1 true\n        path 0-1\n"
		"    stays: nothing has loaded args[1].lo yet, and comparisons look at A\n",
		"\n4: A = args[1].lo (4 before)\n    A holds nr",
		"    A held args[1].lo until 3 changed it (A &= 7), ioctl, other architectures\n"
		"        from 3\n        path 0-3\n",
		"    stays: on 1 of 2 ways 2 had loaded it, then 3 changed it (A &= 7)",
		"\n0: A = nr (0 before)\n    stays: the filter starts here, nothing is loaded "
		"yet\n",
		"\n1: if A == 0x10 (1 before)\n    A holds nr, loaded at 0\n",
		"\n5: if A == 0x2 (5 before)\n    A holds args[1].lo, loaded at 4\n"
		"    stays: true for ",
	};
	struct loupe_filter *filter;
	struct loupe_rewrite *rw;
	struct loupe_why *why;
	size_t len;
	char *text;

	(void)state;
	assert_int_equal(loupe_filter_create("t", insns, 8, LOUPE_FILTER_SECCOMP, &filter, NULL),
			 0);
	assert_int_equal(loupe_filter_optimize(filter, NULL, &rw, NULL), 0);
	why = explain(filter, NULL);
	assert_int_equal(loupe_why_text(why, why, rw, NULL, &text, &len), 0);
	for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++) {
		if (!strstr(text, wanted[i]))
			fail_msg("nothing says: %s\nbut: %s", wanted[i], text);
	}
	free(text);
	loupe_why_destroy(why);
	loupe_rewrite_destroy(rw);
	loupe_filter_destroy(filter);
}

/* Ways that hold the word already meet one that does not: what it would take to part them. */
static void ways_that_meet_are_told_apart(void **state)
{
	static const struct loupe_cbpf_insn insns[] = {
		LD(0), JEQ(16, 0, 2), LD(16), JEQ(5, 3, 0), LD(16), JEQ(7, 1, 0), RET(1), RET(2),
	};
	static const struct loupe_why_select all = { 0 };
	struct loupe_filter *filter;
	struct loupe_why *why;
	uint32_t cnt;
	size_t len;
	char *text;

	(void)state;
	assert_int_equal(loupe_filter_create("t", insns, 8, LOUPE_FILTER_SECCOMP, &filter, NULL),
			 0);
	why = explain(filter, NULL);
	loupe_why_arrivals(why, 4, &cnt);
	assert_int_equal(cnt, 2);
	assert_int_equal(loupe_why_insn_text(why, 4, LOUPE_NONE, &all, &text, &len), 0);
	assert_non_null(strstr(text, "    A holds args[0].lo, loaded at 2, ioctl"));
	assert_non_null(strstr(text, "    A holds nr, loaded at 0, "));
	assert_non_null(strstr(text, "A holds it already on 1 of 2 ways"));
	assert_non_null(strstr(text, "if the instruction that uses it stood there once more"));
	free(text);
	loupe_why_destroy(why);
	loupe_filter_destroy(filter);
}

/* An instruction that was built anew is found again by what it asks of whom. */
static void partners_ask_the_same(void **state)
{
	/* the same twice, in another order and with > for >= */
	static const struct loupe_cbpf_insn one[] = {
		LD(0),	JEQ(16, 0, 2), LD(16), { BPF_JMP | BPF_JGE | BPF_K, 0, 1, 6 },
		RET(1), RET(2),
	};
	static const struct loupe_cbpf_insn two[] = {
		LD(0),	JEQ(16, 1, 0), RET(1), LD(16), { BPF_JMP | BPF_JGT | BPF_K, 1, 0, 5 },
		RET(2), RET(1),
	};
	static const uint32_t partner[] = { 0, 1, 3, 4, 2, 5 };
	struct loupe_filter *a, *b;
	struct loupe_why *why_a, *why_b;

	(void)state;
	assert_int_equal(loupe_filter_create("a", one, 6, LOUPE_FILTER_SECCOMP, &a, NULL), 0);
	assert_int_equal(loupe_filter_create("b", two, 7, LOUPE_FILTER_SECCOMP, &b, NULL), 0);
	why_a = explain(a, NULL);
	why_b = explain(b, NULL);
	for (uint32_t i = 0; i < 6; i++)
		assert_int_equal(loupe_why_partner(why_a, i, why_b), partner[i]);
	loupe_why_destroy(why_b);
	loupe_why_destroy(why_a);
	loupe_filter_destroy(b);
	loupe_filter_destroy(a);
}

/* One call's loads of one argument. */
static void a_selection_is_all_that_is_explained(void **state)
{
	struct loupe_policy *policy = read_policy(policy_text, NULL);
	struct loupe_filter *filter = compile_policy(policy), *after;
	struct loupe_why_select select = {
		.by_call = true, .arch = AUDIT_ARCH_X86_64, .nr = 16, .by_arg = true, .arg = 1
	};
	struct loupe_why *before, *why;
	struct loupe_rewrite *rw;
	size_t len;
	char *text;

	(void)state;
	after = optimized(filter, 2, &rw);
	before = explain(filter, policy);
	why = explain(after, policy);
	assert_int_equal(loupe_why_text(before, why, rw, &select, &text, &len), 0);
	assert_non_null(strstr(text, "# ioctl (16), "));
	assert_non_null(strstr(text, ":3, 2 rules\n"));
	assert_non_null(strstr(text, ": A = args[1].lo"));
	assert_non_null(strstr(text, ": A = args[1].hi"));
	assert_null(strstr(text, ": A = args[0]"));
	assert_null(strstr(text, ": if A"));
	assert_null(strstr(text, "fcntl"));
	free(text);
	loupe_why_destroy(why);
	loupe_why_destroy(before);
	loupe_rewrite_destroy(rw);
	loupe_filter_destroy(after);
	loupe_filter_destroy(filter);
	loupe_policy_destroy(policy);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(runs_are_what_is_explained),
		cmocka_unit_test(instructions_serve_their_rules),
		cmocka_unit_test(loads_are_explained),
		cmocka_unit_test(ways_that_meet_are_told_apart),
		cmocka_unit_test(partners_ask_the_same),
		cmocka_unit_test(a_selection_is_all_that_is_explained),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
