// SPDX-License-Identifier: GPL-2.0-only
/*
 * usage: libseccomp [FILE...]
 * What libseccomp makes of the same rules, by default and with its tree: ours, compiled and
 * optimized, answers the same, has at most half the instructions, and executes no more of them on
 * any call.
 */
#include <errno.h>
#include <linux/audit.h>
#include <seccomp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "bpfloupe.h"
#include "there.h"

#define X32_BIT 0x40000000u

enum { MAX_INSNS = 4096, MAX_CONDS = 6 };

static int add_rule(scmp_filter_ctx ctx, const struct loupe_policy_rule *rule)
{
	static const enum scmp_compare ops[] = {
		[LOUPE_POLICY_EQ] = SCMP_CMP_EQ, [LOUPE_POLICY_NE] = SCMP_CMP_NE,
		[LOUPE_POLICY_LT] = SCMP_CMP_LT, [LOUPE_POLICY_LE] = SCMP_CMP_LE,
		[LOUPE_POLICY_GT] = SCMP_CMP_GT, [LOUPE_POLICY_GE] = SCMP_CMP_GE,
	};
	struct scmp_arg_cmp args[MAX_CONDS];
	uint32_t cnt = 0;
	int ret;

	for (; cnt < rule->cond_cnt; cnt++) {
		const struct loupe_policy_cond *cond = &rule->conds[cnt];

		if (cnt == MAX_CONDS)
			return -E2BIG;
		args[cnt] = (struct scmp_arg_cmp){ cond->arg, ops[cond->op], cond->value, 0 };
		if (cond->mask == UINT64_MAX)
			continue;
		if (cond->op != LOUPE_POLICY_EQ)
			return -ENOTSUP;
		args[cnt] = (struct scmp_arg_cmp){ cond->arg, SCMP_CMP_MASKED_EQ, cond->mask,
						   cond->value };
	}
	ret = seccomp_rule_add_array(ctx, rule->action, (int)rule->nr, cnt, args);
	return ret == -EEXIST ? 0 : ret; /* said before */
}

/* Its program, through a file in memory. */
static struct loupe_filter *export(scmp_filter_ctx ctx, const char *name)
{
	static struct loupe_cbpf_insn insns[MAX_INSNS];
	int fd = memfd_create("filter", 0);
	struct loupe_filter *filter = NULL;
	struct loupe_error err;
	ssize_t len = -1;

	if (fd >= 0 && !seccomp_export_bpf(ctx, fd))
		len = pread(fd, insns, sizeof(insns), 0);
	if (fd >= 0)
		close(fd);
	if (len > 0 && loupe_filter_create(name, insns, (uint32_t)len / sizeof(insns[0]),
					   LOUPE_FILTER_SECCOMP, &filter, &err))
		printf("%s: %s\n", name, err.message);
	return filter;
}

/* @param optimize  1: in order of priority, 2: a tree */
static struct loupe_filter *their_filter(const struct loupe_policy *policy, uint32_t optimize)
{
	scmp_filter_ctx ctx = seccomp_init(policy->default_action);
	struct loupe_filter *filter = NULL;
	int ret = ctx ? seccomp_attr_set(ctx, SCMP_FLTATR_CTL_OPTIMIZE, optimize) : -ENOMEM;

	for (uint32_t i = 0; !ret && i < policy->rule_cnt; i++) {
		if (policy->rules[i].action != policy->default_action)
			ret = add_rule(ctx, &policy->rules[i]);
	}
	if (ret)
		printf("libseccomp refuses a rule: %s\n", strerror(-ret));
	else
		filter = export(ctx, optimize == 1 ? "libseccomp" : "libseccomp, tree");
	if (ctx)
		seccomp_release(ctx);
	return filter;
}

static struct loupe_filter *optimized(const struct loupe_policy *policy,
				      const struct loupe_filter *filter)
{
	struct loupe_filter_opts opts = { .level = 2 };
	struct loupe_weights weights;
	struct loupe_filter *out = NULL;
	struct loupe_filter_proof proof;
	struct loupe_rewrite *rw;
	uint32_t level;

	if (loupe_policy_weights(policy, &weights))
		return NULL;
	opts.weights = &weights;
	if (loupe_filter_optimize_proven(filter, &opts, &rw, &proof, &level, NULL))
		abort();
	loupe_weights_finish(&weights);
	loupe_filter_from_rewrite(filter, rw, loupe_rewrite_edit_cnt(rw), &out, NULL);
	loupe_rewrite_destroy(rw);
	return proof.verdict == LOUPE_PROOF_PROVEN && level == 2 ? out : NULL;
}

struct sides {
	struct loupe_filter *theirs[2];
	struct loupe_filter *ours[2]; /* compiled, optimized */
	uint32_t calls, wrong, longer;
};

static struct loupe_filter_run run_of(const struct loupe_filter *filter,
				      const struct loupe_seccomp_data *data)
{
	const struct loupe_filter_input input = { .data = data, .len = sizeof(*data) };
	struct loupe_filter_run run = { 0 };

	if (loupe_filter_eval(filter, &input, &run, NULL))
		abort();
	return run;
}

static void try_call(struct sides *s, const struct loupe_seccomp_data *data)
{
	struct loupe_filter_run theirs[2], ours;

	s->calls++;
	for (int i = 0; i < 2; i++)
		theirs[i] = run_of(s->theirs[i], data);
	for (int i = 0; i < 2; i++) {
		ours = run_of(s->ours[i], data);
		if (ours.result != theirs[0].result || ours.result != theirs[1].result) {
			if (!s->wrong++)
				printf("nr %u, arguments %#llx %#llx: %#x, libseccomp %#x\n",
				       data->nr, (unsigned long long)data->args[0],
				       (unsigned long long)data->args[1], ours.result,
				       theirs[0].result);
		}
		/* numbers of another ABI are no calls of this one */
		if (data->arch == AUDIT_ARCH_X86_64 && data->nr < X32_BIT &&
		    (ours.executed > theirs[0].executed || ours.executed > theirs[1].executed)) {
			if (s->longer++ < 20)
				printf("nr %u (%s) executes %u, libseccomp %u and %u\n", data->nr,
				       i ? "optimized" : "compiled", ours.executed,
				       theirs[0].executed, theirs[1].executed);
		}
	}
}

static void try_all(const struct loupe_policy *policy, struct sides *s)
{
	static const uint32_t other_arches[] = { AUDIT_ARCH_I386, AUDIT_ARCH_AARCH64, 0 };
	static const uint32_t far[] = { 1000, 0x3fffffff, 0x40000000, 0x40000001, 0x40000200,
					0x7fffffff, 0x80000000, UINT32_MAX - 1, UINT32_MAX };
	struct loupe_seccomp_data data = { .arch = policy->arch };

	for (data.nr = 0; data.nr < 600; data.nr++)
		try_call(s, &data);
	for (size_t i = 0; i < sizeof(far) / sizeof(far[0]); i++) {
		data.nr = far[i];
		try_call(s, &data);
	}
	for (uint32_t r = 0; r < policy->rule_cnt; r++) {
		const struct loupe_policy_rule *rule = &policy->rules[r];

		for (uint32_t c = 0; c < rule->cond_cnt; c++) {
			const uint64_t value = rule->conds[c].value;
			const uint64_t values[] = { value, value + 1, value - 1,
						    value ^ UINT64_C(1) << 40,
						    ~rule->conds[c].mask | value };

			for (size_t v = 0; v < sizeof(values) / sizeof(values[0]); v++) {
				data = (struct loupe_seccomp_data){ .arch = policy->arch,
								    .nr = rule->nr };
				for (uint32_t o = 0; o < rule->cond_cnt; o++)
					data.args[rule->conds[o].arg] = rule->conds[o].value;
				data.args[rule->conds[c].arg] = values[v];
				try_call(s, &data);
			}
		}
	}
	for (size_t i = 0; i < sizeof(other_arches) / sizeof(other_arches[0]); i++) {
		data = (struct loupe_seccomp_data){ .arch = other_arches[i] };
		try_call(s, &data);
	}
}

static int check(const char *path)
{
	struct loupe_policy *policy;
	struct sides s = { 0 };
	struct loupe_error err;
	int bad = 1;

	if (loupe_policy_load(path, NULL, 0, NULL, &policy, &err)) {
		printf("%s: %s\n", path, err.message);
		return 1;
	}
	s.theirs[0] = their_filter(policy, 1);
	s.theirs[1] = their_filter(policy, 2);
	if (loupe_policy_compile(policy, NULL, &s.ours[0], &err))
		printf("%s: %s\n", path, err.message);
	else
		s.ours[1] = optimized(policy, s.ours[0]);
	if (s.theirs[0] && s.theirs[1] && s.ours[1]) {
		try_all(policy, &s);
		printf("%s: %u instructions compiled, %u optimized, libseccomp %u and %u; %u calls, "
		       "%u answers differ, %u execute more\n",
		       path, s.ours[0]->cnt, s.ours[1]->cnt, s.theirs[0]->cnt, s.theirs[1]->cnt,
		       s.calls, s.wrong, s.longer);
		bad = s.wrong || s.longer || 2 * s.ours[0]->cnt > s.theirs[0]->cnt ||
		      2 * s.ours[1]->cnt > s.theirs[0]->cnt ||
		      2 * s.ours[1]->cnt > s.theirs[1]->cnt;
	}
	for (int i = 0; i < 2; i++) {
		loupe_filter_destroy(s.theirs[i]);
		loupe_filter_destroy(s.ours[i]);
	}
	loupe_policy_destroy(policy);
	return bad;
}

int main(int argc, char **argv)
{
	return check_those_there(argc, argv, check);
}
