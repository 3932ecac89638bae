// SPDX-License-Identifier: GPL-2.0-only
/* What each instruction of the two instruction sets does to the flow of control. */
#include "bpfloupe/cfg.h"
#include "bpfloupe/image.h"
#include "bpfloupe/rewrite.h"

#include <errno.h>
#include <linux/bpf.h>
#include <linux/filter.h>
#include <stdlib.h>

/* Of eBPF instructions that old headers may lack. */
#define CODE_GOTOL    (BPF_JMP32 | BPF_JA)
#define CODE_MAY_GOTO (BPF_JMP | 0xe0)
#define CODE_LDIMM64  (BPF_LD | BPF_IMM | BPF_DW)

/* LOUPE_CFG_NONE for a place before the program; one far behind it stays behind it. */
static uint32_t slot(int64_t n)
{
	if (n < 0)
		return LOUPE_CFG_NONE;
	return n >= LOUPE_CFG_NONE ? LOUPE_CFG_NONE - 1 : (uint32_t)n;
}

static int map_ebpf(const struct loupe_insn *insn, uint32_t i, struct loupe_cfg_insn *out,
		    struct loupe_error *err)
{
	int64_t by_off = (int64_t)i + 1 + insn->off;
	int64_t by_imm = (int64_t)i + 1 + insn->imm;
	uint8_t class = BPF_CLASS(insn->code), op = BPF_OP(insn->code);

	*out = (struct loupe_cfg_insn){ .op = LOUPE_CFG_NEXT };
	if (insn->code == CODE_LDIMM64 && insn->src_reg == BPF_PSEUDO_FUNC)
		*out = (struct loupe_cfg_insn){ LOUPE_CFG_CALLBACK, slot(by_imm), 0 };
	if (class != BPF_JMP && class != BPF_JMP32)
		return 0;
	if (insn->code == (BPF_JMP | BPF_JA)) {
		*out = (struct loupe_cfg_insn){ LOUPE_CFG_JUMP, slot(by_off), 0 };
	} else if (insn->code == CODE_GOTOL) {
		*out = (struct loupe_cfg_insn){ LOUPE_CFG_JUMP, slot(by_imm), 0 };
	} else if (op == BPF_JA) {
		return loupe_error_set(err, -EINVAL,
				       "insn %u jumps to an address in a register: no graph can be "
				       "made of opcode 0x%02x",
				       i, insn->code);
	} else if (insn->code == CODE_MAY_GOTO) {
		*out = (struct loupe_cfg_insn){ LOUPE_CFG_MAY_GOTO, slot(by_off), i + 1 };
	} else if (insn->code == (BPF_JMP | BPF_CALL)) {
		if (insn->src_reg == BPF_PSEUDO_CALL)
			*out = (struct loupe_cfg_insn){ LOUPE_CFG_CALL, slot(by_imm), 0 };
	} else if (insn->code == (BPF_JMP | BPF_EXIT)) {
		out->op = LOUPE_CFG_EXIT;
	} else if (op <= BPF_JSLE && op != BPF_CALL && op != BPF_EXIT) {
		*out = (struct loupe_cfg_insn){ LOUPE_CFG_COND, slot(by_off), i + 1 };
	}
	return 0;
}

int loupe_cfg_from_ebpf(const struct loupe_insn *insns, uint32_t cnt, struct loupe_cfg **out,
			struct loupe_error *err)
{
	struct loupe_cfg_insn *flow = calloc(cnt ? cnt : 1, sizeof(*flow));
	int ret = 0;

	*out = NULL;
	if (!flow)
		return loupe_error_set(err, -ENOMEM, "out of memory");
	for (uint32_t i = 0; i < cnt && !ret; i++) {
		ret = map_ebpf(&insns[i], i, &flow[i], err);
		if (ret || insns[i].code != CODE_LDIMM64)
			continue;
		if (i + 1 == cnt)
			ret = loupe_error_set(err, -EINVAL,
					      "insn %u needs two slots, but is in the last one", i);
		else
			flow[++i].op = LOUPE_CFG_REST;
	}
	if (!ret)
		ret = loupe_cfg_build(flow, cnt, out, err);
	free(flow);
	return ret;
}

int loupe_cfg_from_cbpf(const struct loupe_cbpf_insn *insns, uint32_t cnt, struct loupe_cfg **out,
			struct loupe_error *err)
{
	struct loupe_cfg_insn *flow = calloc(cnt ? cnt : 1, sizeof(*flow));
	int ret;

	*out = NULL;
	if (!flow)
		return loupe_error_set(err, -ENOMEM, "out of memory");
	for (uint32_t i = 0; i < cnt; i++) {
		const struct loupe_cbpf_insn *insn = &insns[i];
		int64_t next = (int64_t)i + 1;

		if (BPF_CLASS(insn->code) == BPF_RET)
			flow[i].op = LOUPE_CFG_EXIT;
		else if (insn->code == (BPF_JMP | BPF_JA))
			flow[i] =
				(struct loupe_cfg_insn){ LOUPE_CFG_JUMP, slot(next + insn->k), 0 };
		else if (BPF_CLASS(insn->code) == BPF_JMP)
			flow[i] = (struct loupe_cfg_insn){ LOUPE_CFG_COND, slot(next + insn->jt),
							   slot(next + insn->jf) };
	}
	ret = loupe_cfg_build(flow, cnt, out, err);
	free(flow);
	return ret;
}

/* The targets of a rewrite's program are kept apart, because offsets may not fit their fields. */
static int map_rewritten(const struct loupe_rewrite_prog *prog, enum loupe_rewrite_kind kind,
			 uint32_t i, struct loupe_cfg_insn *flow, struct loupe_error *err)
{
	int ret = 0;

	if (kind == LOUPE_REWRITE_EBPF) {
		ret = map_ebpf(&prog->insns[i].ebpf, i, flow, err);
		if (prog->jt[i] != LOUPE_NONE)
			flow->target = prog->jt[i];
		return ret;
	}
	*flow = (struct loupe_cfg_insn){ .op = LOUPE_CFG_NEXT };
	if (BPF_CLASS(prog->insns[i].cbpf.code) == BPF_RET)
		flow->op = LOUPE_CFG_EXIT;
	else if (prog->jt[i] != LOUPE_NONE)
		*flow = (struct loupe_cfg_insn){
			prog->jf[i] == LOUPE_NONE ? LOUPE_CFG_JUMP : LOUPE_CFG_COND,
			prog->jt[i],
			prog->jf[i],
		};
	return ret;
}

int loupe_cfg_from_rewrite(const struct loupe_rewrite_prog *prog, enum loupe_rewrite_kind kind,
			   struct loupe_cfg **out, struct loupe_error *err)
{
	struct loupe_cfg_insn *flow = calloc(prog->cnt ? prog->cnt : 1, sizeof(*flow));
	int ret = 0;

	*out = NULL;
	if (!flow)
		return loupe_error_set(err, -ENOMEM, "out of memory");
	for (uint32_t i = 0; i < prog->cnt && !ret; i++) {
		ret = map_rewritten(prog, kind, i, &flow[i], err);
		if (kind == LOUPE_REWRITE_EBPF && prog->insns[i].ebpf.code == CODE_LDIMM64 &&
		    i + 1 < prog->cnt)
			flow[++i].op = LOUPE_CFG_REST;
	}
	if (!ret)
		ret = loupe_cfg_build(flow, prog->cnt, out, err);
	free(flow);
	return ret;
}

void loupe_cfg_map_rewrite(const struct loupe_rewrite_prog *prog,
			   const struct loupe_rewrite_prog *other, uint32_t *other_insn)
{
	for (uint32_t i = 0; i < prog->cnt; i++) {
		uint32_t id = prog->ids[i];
		uint32_t at = id < other->id_cnt ? other->index_of[id] : LOUPE_NONE;

		other_insn[i] = at == LOUPE_NONE ? LOUPE_CFG_NONE : at;
	}
}
