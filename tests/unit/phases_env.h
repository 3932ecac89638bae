/* SPDX-License-Identifier: GPL-2.0-only */
/* A verifier environment around a few insns, with the log that its phases write. */
#ifndef PHASES_ENV_H
#define PHASES_ENV_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "bpfloupe/log.h"
#include "verifier/vf.h"

#define INSN(c, d, s, o, i)                                                         \
	{                                                                           \
		.code = (c), .dst_reg = (d), .src_reg = (s), .off = (o), .imm = (i) \
	}

struct phases_env {
	struct vf_env *env;
	struct loupe_image image;
	struct loupe_verify_opts opts;
	struct loupe_verify_result result;
	struct loupe_log *log;
};

static inline void phases_start(struct phases_env *p, const struct loupe_insn *insns, uint32_t cnt)
{
	struct loupe_log_opts log_opts = { .size = sizeof(log_opts), .level = LOUPE_LOG_LEVEL2 };
	struct vf_env *env = calloc(1, sizeof(*env));

	assert_non_null(env);
	memset(p, 0, sizeof(*p));
	p->env = env;
	p->image.prog_type = BPF_PROG_TYPE_SOCKET_FILTER;
	p->image.insn_cnt = cnt;
	p->image.license = (char *)"GPL";
	assert_int_equal(loupe_log_create(&p->image, &log_opts, &p->log), 0);
	p->opts.size = sizeof(p->opts);
	p->opts.listeners[0] = loupe_log_listener(p->log);
	p->opts.listener_cnt = 1;
	env->image = &p->image;
	env->opts = &p->opts;
	env->result = &p->result;
	env->counters = &p->result.counters;
	env->slabs = vf_slabs_create(0, false);
	env->insn_cnt = cnt;
	env->insns = vf_alloc(env->slabs, cnt * sizeof(*insns));
	env->aux = vf_zalloc(env->slabs, (cnt + 1) * sizeof(*env->aux));
	assert_non_null(env->insns);
	assert_non_null(env->aux);
	memcpy(env->insns, insns, cnt * sizeof(*insns));
	p->image.insns = env->insns;
	for (uint32_t i = 0; i < cnt; i++) {
		env->aux[i].orig_idx = i;
		env->aux[i].map_idx = -1;
	}
	env->allow_ptr_leaks = env->bpf_capable = env->bypass_spec_v1 = env->bypass_spec_v4 = true;
}

static inline const char *phases_log(struct phases_env *p)
{
	assert_int_equal(loupe_log_finish(p->log), 0);
	return loupe_log_text(p->log, NULL);
}

static inline void phases_end(struct phases_env *p)
{
	loupe_log_destroy(p->log);
	vf_slabs_destroy(p->env->slabs);
	free(p->env);
}

#endif
