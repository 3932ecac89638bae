// SPDX-License-Identifier: GPL-2.0-only
/* What BPF_PROG_LOAD refuses before verification starts, without a word in the log. */
#include <ctype.h>

#include "verifier/vf.h"

enum needs { NEEDS_NOTHING, NEEDS_BPF, NEEDS_NET_ADMIN, NEEDS_PERFMON };

enum {
	UNPRIV_MAX_INSNS = 4096,
	LICENSE_LEN = 127, /* what is longer is cut */
	BTF_MAX_ID = 0x000fffff,
};

static const uint32_t known_flags = BPF_F_STRICT_ALIGNMENT | BPF_F_ANY_ALIGNMENT |
				    BPF_F_TEST_STATE_FREQ | BPF_F_SLEEPABLE | BPF_F_TEST_RND_HI32 |
				    BPF_F_XDP_HAS_FRAGS | BPF_F_XDP_DEV_BOUND_ONLY |
				    BPF_F_TEST_REG_INVARIANTS | BPF_F_TOKEN_FD;

static const struct {
	bool exists;
	enum needs needs;
} types[LOUPE_PROG_TYPE_CNT] = {
#define LOAD_TYPE(type, needs) [type] = { true, needs },
#include "kernel/6.18/load.def"
};

static const struct {
	uint32_t type, attach_type;
} allowed[] = {
#define LOAD_ATTACH(type, attach_type) { type, attach_type },
#include "kernel/6.18/load.def"
};

static const struct {
	uint32_t type, attach_type;
} defaults[] = {
#define LOAD_DEFAULT(type, attach_type) { type, attach_type },
#include "kernel/6.18/load.def"
};

static uint32_t default_attach_type(uint32_t type)
{
	for (size_t i = 0; i < sizeof(defaults) / sizeof(defaults[0]); i++)
		if (defaults[i].type == type)
			return defaults[i].attach_type;
	return 0;
}

/* The attach type is one of the program type's, if that has a list. */
static bool attach_type_fits(uint32_t type, uint32_t attach_type)
{
	bool listed = false;

	for (size_t i = 0; i < sizeof(allowed) / sizeof(allowed[0]); i++) {
		if (allowed[i].type != type)
			continue;
		if (allowed[i].attach_type == attach_type)
			return true;
		listed = true;
	}
	return !listed;
}

static bool may_have_target(uint32_t type)
{
	return type == BPF_PROG_TYPE_TRACING || type == BPF_PROG_TYPE_LSM ||
	       type == BPF_PROG_TYPE_STRUCT_OPS || type == BPF_PROG_TYPE_EXT;
}

static bool is_gpl_compatible(const char *license)
{
	static const char *const compatible[] = {
		"GPL",		"GPL v2",	"GPL and additional rights",
		"Dual BSD/GPL", "Dual MIT/GPL", "Dual MPL/GPL",
	};

	for (size_t i = 0; i < sizeof(compatible) / sizeof(compatible[0]); i++)
		if (license && strncmp(license, compatible[i], LICENSE_LEN) == 0)
			return true;
	return false;
}

static bool name_is_valid(const char name[16])
{
	for (int i = 0; i < 16; i++) {
		if (!name[i])
			return true;
		if (!isalnum((unsigned char)name[i]) && name[i] != '_' && name[i] != '.')
			return false;
	}
	return false;
}

/* Rights: a load without privileges may only be a socket filter or a cgroup's packet filter. */
static bool is_permitted(const struct vf_env *env, uint32_t type)
{
	if (env->bpf_capable)
		return true;
	return type < LOUPE_PROG_TYPE_CNT && types[type].exists &&
	       types[type].needs == NEEDS_NOTHING;
}

/* What the kernel of the profile says of these depends on its means to patch functions. */
static bool attaches_by_trampoline(const struct vf_env *env)
{
	switch (env->image->prog_type) {
	case BPF_PROG_TYPE_LSM:
	case BPF_PROG_TYPE_EXT:
		return true;
	case BPF_PROG_TYPE_TRACING:
		return env->expected_attach_type == BPF_TRACE_FENTRY ||
		       env->expected_attach_type == BPF_TRACE_FEXIT ||
		       env->expected_attach_type == BPF_MODIFY_RETURN;
	default:
		return false;
	}
}

int vf_load_checks(struct vf_env *env)
{
	const struct loupe_image *image = env->image;
	uint32_t type = image->prog_type;

	if (image->prog_flags & ~known_flags)
		return -EINVAL;
	if (image->prog_flags & BPF_F_TOKEN_FD)
		return vf_not_judged(env, "a load with a BPF token");
	env->expected_attach_type = image->expected_attach_type;
	if (!env->expected_attach_type)
		env->expected_attach_type = default_attach_type(type);
	env->sleepable = image->prog_flags & BPF_F_SLEEPABLE;
	env->gpl_compatible = is_gpl_compatible(image->license);

	if (!image->insn_cnt ||
	    image->insn_cnt > (env->bpf_capable ? (uint32_t)VF_MAX_INSNS : UNPRIV_MAX_INSNS))
		return -E2BIG;
	if (!is_permitted(env, type))
		return -EPERM;
	if (image->attach_btf_fd)
		return vf_not_judged(env, "attaching to another program or a module");
	if (attaches_by_trampoline(env))
		return vf_not_judged(env, "attaching to a kernel function");
	if (image->attach_btf_id && (image->attach_btf_id > BTF_MAX_ID || !may_have_target(type)))
		return -EINVAL;
	if (!attach_type_fits(type, env->expected_attach_type))
		return -EINVAL;
	if (image->prog_ifindex)
		return vf_not_judged(env, "programs bound to a device");
	if (type >= LOUPE_PROG_TYPE_CNT || !types[type].exists)
		return -EINVAL;
	return name_is_valid(image->prog_name) ? 0 : -EINVAL;
}
