// SPDX-License-Identifier: GPL-2.0-only
/*
 * usage: policy_kernel [FILE...]
 * Policies in the running kernel, compiled and optimized: each distinct action becomes an errno
 * value of its own, so that no tested call runs, and a child makes calls at the edges of every
 * rule's conditions. The kernel must answer as the policy's own evaluation says.
 */
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bpfloupe.h"
#include "there.h"

enum { MAX_ACTIONS = 100, FIRST_ERRNO = 1000 };

static uint32_t actions[MAX_ACTIONS], action_cnt;

/* The errno value that stands for an action. */
static uint32_t errno_of(uint32_t action)
{
	for (uint32_t i = 0; i < action_cnt; i++) {
		if (actions[i] == action)
			return FIRST_ERRNO + i;
	}
	if (action_cnt == MAX_ACTIONS)
		abort();
	actions[action_cnt] = action;
	return FIRST_ERRNO + action_cnt++;
}

struct call {
	struct loupe_seccomp_data data;
	int64_t rule; /* that decides it, -1: none */
	uint32_t want; /* errno */
	uint32_t got;
};

/* Makes the filter's returns errno values, and lets one call of the child's own through. */
static struct sock_filter *make_program(const struct loupe_filter *filter, uint32_t *cnt)
{
	/* exit_group, marked in its last argument: nobody tests that */
	static const struct sock_filter own[] = {
		{ BPF_LD | BPF_W | BPF_ABS, 0, 0, 0 },
		{ BPF_JMP | BPF_JEQ | BPF_K, 0, 3, SYS_exit_group },
		{ BPF_LD | BPF_W | BPF_ABS, 0, 0, 16 + 5 * 8 },
		{ BPF_JMP | BPF_JEQ | BPF_K, 0, 1, 0x10ade },
		{ BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW },
	};
	uint32_t head = sizeof(own) / sizeof(own[0]);
	struct sock_filter *prog = malloc((head + filter->cnt) * sizeof(*prog));

	if (!prog)
		abort();
	memcpy(prog, own, sizeof(own));
	for (uint32_t i = 0; i < filter->cnt; i++) {
		const struct loupe_cbpf_insn *insn = &filter->insns[i];
		uint32_t k = insn->code == (BPF_RET | BPF_K)
				     ? SECCOMP_RET_ERRNO | errno_of(insn->k)
				     : insn->k;

		prog[head + i] = (struct sock_filter){ insn->code, insn->jt, insn->jf, k };
	}
	*cnt = head + filter->cnt;
	return prog;
}

/* Runs the calls in a child that has the filter. @return false when the kernel refuses it */
static bool run_calls(const struct loupe_filter *filter, struct call *calls, uint32_t cnt)
{
	uint32_t len;
	struct sock_filter *prog = make_program(filter, &len);
	struct sock_fprog fprog = { .len = (unsigned short)len, .filter = prog };
	int status;
	pid_t child = fork();

	if (!child) {
		if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
		    syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &fprog))
			_exit(1);
		for (uint32_t i = 0; i < cnt; i++) {
			const uint64_t *a = calls[i].data.args;
			long ret =
				syscall((long)calls[i].data.nr, a[0], a[1], a[2], a[3], a[4], a[5]);

			calls[i].got = ret == -1 ? (uint32_t)errno : 0;
		}
		syscall(SYS_exit_group, 0, 0, 0, 0, 0, 0x10ade);
	}
	free(prog);
	return waitpid(child, &status, 0) == child && WIFEXITED(status) && !WEXITSTATUS(status);
}

/* A value for which a condition holds or fails, by its number. */
static uint64_t edge(const struct loupe_policy_cond *cond, uint32_t n)
{
	const uint64_t values[] = { cond->value,
				    cond->value + 1,
				    cond->value - 1,
				    cond->value ^ UINT64_C(1) << 63,
				    cond->value | ~cond->mask,
				    cond->value ^ cond->mask,
				    cond->value ^ (cond->mask & (0 - cond->mask)) };

	return values[n % (sizeof(values) / sizeof(values[0]))];
}

static uint32_t add_calls(const struct loupe_policy *policy, struct call *calls)
{
	uint32_t cnt = 0;

	/* the kernel lets uretprobe and uprobe pass unfiltered, and kills who calls them itself */
	for (uint32_t nr = 0; nr < 500; nr++) {
		if (nr != 335 && nr != 336)
			calls[cnt++].data.nr = nr;
	}
	for (uint32_t i = 0; i < policy->rule_cnt; i++) {
		const struct loupe_policy_rule *rule = &policy->rules[i];

		/* all conditions held, then each one at each edge */
		for (uint32_t c = 0; c < rule->cond_cnt; c++) {
			for (uint32_t n = 0; n < 7; n++) {
				struct call *call = &calls[cnt++];

				call->data.nr = rule->nr;
				for (uint32_t o = 0; o < rule->cond_cnt; o++)
					call->data.args[rule->conds[o].arg] = rule->conds[o].value;
				call->data.args[rule->conds[c].arg] = edge(&rule->conds[c], n);
			}
		}
	}
	return cnt;
}

/* What the optimizer makes of a policy's filter, proven. */
static struct loupe_filter *optimized(const struct loupe_policy *policy,
				      const struct loupe_filter *filter)
{
	struct loupe_filter_opts opts = { .level = 2 };
	struct loupe_filter *after = NULL;
	struct loupe_filter_proof proof;
	struct loupe_weights weights;
	struct loupe_rewrite *rw;

	if (loupe_policy_weights(policy, &weights))
		abort();
	opts.weights = &weights;
	if (loupe_filter_optimize_proven(filter, &opts, &rw, &proof, NULL, NULL) ||
	    loupe_filter_from_rewrite(filter, rw, loupe_rewrite_edit_cnt(rw), &after, NULL))
		abort();
	loupe_rewrite_destroy(rw);
	loupe_weights_finish(&weights);
	return after;
}

/* @return how many answers of the kernel are wrong, at most 1 */
static uint32_t compare(const char *path, const struct loupe_filter *filter, struct call *calls,
			uint32_t cnt)
{
	if (!run_calls(filter, calls, cnt)) {
		printf("%s: the kernel refuses the filter\n", path);
		return 1;
	}
	for (uint32_t i = 0; i < cnt; i++) {
		if (calls[i].got != calls[i].want) {
			printf("%s: nr %u: the kernel says %u, the policy %u\n", path,
			       calls[i].data.nr, calls[i].got, calls[i].want);
			return 1;
		}
	}
	return 0;
}

static int check(const char *path)
{
	struct loupe_policy *policy;
	struct loupe_filter *filter, *after;
	struct loupe_error err;
	struct call *calls;
	uint32_t cnt, room = 600, wrong = 0, conditional = 0, both = 0;
	uint8_t *held, *failed;
	char text[1024];

	if (loupe_policy_load(path, NULL, 0, NULL, &policy, &err)) {
		loupe_error_format(&err, text, sizeof(text));
		printf("%s\n", text);
		/* files that @include and @frequency name are not there */
		return strstr(text, "cannot read") ? 0 : 1;
	}
	if (loupe_policy_compile(policy, NULL, &filter, &err)) {
		printf("%s: %s\n", path, err.message);
		return 1;
	}
	for (uint32_t i = 0; i < policy->rule_cnt; i++)
		room += policy->rules[i].cond_cnt * 7;
	calls = mmap(NULL, room * sizeof(*calls), PROT_READ | PROT_WRITE,
		     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	held = calloc(policy->rule_cnt + 1, 1);
	failed = calloc(policy->rule_cnt + 1, 1);
	if (calls == MAP_FAILED || !held || !failed)
		abort();
	cnt = add_calls(policy, calls);
	for (uint32_t i = 0; i < cnt; i++) {
		calls[i].data.arch = policy->arch;
		calls[i].want = errno_of(loupe_policy_eval(policy, &calls[i].data, &calls[i].rule));
		for (uint32_t r = 0; r < policy->rule_cnt; r++) {
			if (policy->rules[r].nr != calls[i].data.nr)
				continue;
			held[r] |= calls[i].rule == r;
			failed[r] |= calls[i].rule != r;
		}
	}
	after = optimized(policy, filter);
	wrong += compare(path, filter, calls, cnt);
	wrong += compare(path, after, calls, cnt);
	for (uint32_t r = 0; r < policy->rule_cnt; r++) {
		conditional += policy->rules[r].cond_cnt > 0;
		both += policy->rules[r].cond_cnt && held[r] && failed[r];
	}
	printf("%s: %u instructions, %u optimized, %u calls, %u rules with conditions, %u answered "
	       "both ways\n",
	       path, filter->cnt, after->cnt, cnt, conditional, both);
	munmap(calls, room * sizeof(*calls));
	free(held);
	free(failed);
	loupe_filter_destroy(after);
	loupe_filter_destroy(filter);
	loupe_policy_destroy(policy);
	return wrong ? 1 : 0;
}

int main(int argc, char **argv)
{
	return check_those_there(argc, argv, check);
}
