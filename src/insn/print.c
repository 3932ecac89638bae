// SPDX-License-Identifier: GPL-2.0-only
/*
 * Instructions as Linux 6.18's verifier log shows them. Words and spacing are facts of that log;
 * forms that the kernel refuses before it prints anything follow the same pattern.
 */
#include "bpfloupe/insn.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "insn/opcodes.h"
#include "insn/syntax.h"

/* The text so far: at most size bytes are stored, len counts all. */
struct text {
	char *buf;
	size_t size;
	size_t len;
};

static void put(struct text *text, const char *fmt, ...) LOUPE_PRINTF(2, 3);

static void put(struct text *text, const char *fmt, ...)
{
	bool room = text->len < text->size;
	va_list args;
	int n;

	va_start(args, fmt);
	n = vsnprintf(room ? text->buf + text->len : NULL, room ? text->size - text->len : 0, fmt,
		      args);
	va_end(args);
	if (n > 0)
		text->len += (size_t)n;
}

static const char *or_null(const char *word)
{
	return word ? word : "(null)";
}

/* The register's name: w in 32-bit classes. */
static char half(uint8_t class)
{
	return class == BPF_ALU || class == BPF_JMP32 ? 'w' : 'r';
}

static const char *mem_type(const struct loupe_insn *insn)
{
	return insn_mem_types[BPF_SIZE(insn->code) >> 3];
}

static void put_alu(struct text *text, const struct loupe_insn *insn)
{
	uint8_t class = BPF_CLASS(insn->code), op = BPF_OP(insn->code);
	bool is_signed = (op == BPF_DIV || op == BPF_MOD) && insn->off == 1;
	const char *word =
		or_null(is_signed ? insn_alu_signed_ops[op >> 4] : insn_alu_ops[op >> 4]);
	const char *extend = "";
	char r = half(class);

	if (op == BPF_END) {
		const char *swap = BPF_SRC(insn->code) == BPF_TO_BE ? "be" : "le";

		put(text, "r%d = %s%d r%d", insn->dst_reg, class == BPF_ALU64 ? "bswap" : swap,
		    insn->imm, insn->dst_reg);
		return;
	}
	if (op == BPF_NEG) {
		put(text, "%c%d = -%c%d", r, insn->dst_reg, r, insn->dst_reg);
		return;
	}
	if (BPF_SRC(insn->code) == BPF_K) {
		put(text, "%c%d %s %d", r, insn->dst_reg, word, insn->imm);
		return;
	}
	if (insn->code == (BPF_ALU64 | BPF_MOV | BPF_X) && insn->off == BPF_ADDR_SPACE_CAST) {
		put(text, "r%d = addr_space_cast(r%d, %u, %u)", insn->dst_reg, insn->src_reg,
		    (uint32_t)insn->imm >> 16, (uint32_t)insn->imm & 0xffff);
		return;
	}
	if (insn->code == (BPF_ALU64 | BPF_MOV | BPF_X) && insn->off == BPF_ADDR_PERCPU) {
		put(text, "r%d = &(void __percpu *)(r%d)", insn->dst_reg, insn->src_reg);
		return;
	}
	if (op == BPF_MOV)
		extend = insn->off == 8	   ? "(s8)"
			 : insn->off == 16 ? "(s16)"
			 : insn->off == 32 ? "(s32)"
					   : "";
	put(text, "%c%d %s %s%c%d", r, insn->dst_reg, word, extend, r, insn->src_reg);
}

static void put_atomic(struct text *text, const struct loupe_insn *insn)
{
	const struct insn_atomic *atomic = insn_atomic_by_imm(insn->imm);
	const char *wide = BPF_SIZE(insn->code) == BPF_DW ? "64" : "";

	switch (atomic->form) {
	case INSN_ATOMIC_LOCK:
		put(text, "lock *(%s *)(r%d %+d) %s r%d", mem_type(insn), insn->dst_reg, insn->off,
		    atomic->word, insn->src_reg);
		return;
	case INSN_ATOMIC_FETCH:
		put(text, "r%d = atomic%s_%s((%s *)(r%d %+d), r%d)", insn->src_reg, wide,
		    atomic->word, mem_type(insn), insn->dst_reg, insn->off, insn->src_reg);
		return;
	case INSN_ATOMIC_CMPXCHG:
		put(text, "r0 = atomic%s_%s((%s *)(r%d %+d), r0, r%d)", wide, atomic->word,
		    mem_type(insn), insn->dst_reg, insn->off, insn->src_reg);
		return;
	case INSN_ATOMIC_LOAD:
		put(text, "r%d = %s((%s *)(r%d %+d))", insn->dst_reg, atomic->word, mem_type(insn),
		    insn->src_reg, insn->off);
		return;
	case INSN_ATOMIC_STORE:
		put(text, "%s((%s *)(r%d %+d), r%d)", atomic->word, mem_type(insn), insn->dst_reg,
		    insn->off, insn->src_reg);
		return;
	}
}

static void put_ldimm64(struct text *text, const struct loupe_insn *insn,
			const struct loupe_insn_print_opts *opts)
{
	char buf[256];
	uint64_t value = insn_imm64(insn);

	put(text, "r%d = ", insn->dst_reg);
	if (opts->symbol && opts->symbol(opts->ctx, insn, buf, sizeof(buf)) >= 0) {
		put(text, "%s", buf);
		return;
	}
	switch (insn->src_reg) {
	case BPF_PSEUDO_MAP_FD:
	case BPF_PSEUDO_MAP_IDX:
	case BPF_PSEUDO_MAP_VALUE:
	case BPF_PSEUDO_MAP_IDX_VALUE:
	case BPF_PSEUDO_BTF_ID:
		if (opts->hide_pointers)
			value = 0;
		else if (opts->address)
			value = opts->address(opts->ctx, insn);
		else if (insn->src_reg == BPF_PSEUDO_MAP_FD || insn->src_reg == BPF_PSEUDO_MAP_IDX)
			value = 0xffff888000000000ull + ((uint64_t)(uint32_t)insn[0].imm << 12);
		else if (insn->src_reg == BPF_PSEUDO_BTF_ID)
			value = 0xffffffff81000000ull + ((uint64_t)(uint32_t)insn[0].imm << 4);
		else
			value = 0xffffc90000000000ull + ((uint64_t)(uint32_t)insn[0].imm << 24) +
				(uint32_t)insn[1].imm;
		break;
	default:
		break;
	}
	put(text, "0x%" PRIx64, value);
}

static void put_call(struct text *text, const struct loupe_insn *insn,
		     const struct loupe_insn_print_opts *opts)
{
	const char *name = NULL;

	if (insn->src_reg == BPF_PSEUDO_CALL) {
		put(text, "call pc%+d", insn->imm);
		return;
	}
	if (insn->src_reg == 0) {
		name = loupe_helper_name((uint32_t)insn->imm);
	} else if (insn->src_reg == BPF_PSEUDO_KFUNC_CALL) {
		name = opts->kfunc_name ? opts->kfunc_name(opts->ctx, insn) : NULL;
		if (!name)
			name = "<error>";
	}
	put(text, "call %s#%d", name ? name : "unknown", insn->imm);
}

static void put_jump(struct text *text, const struct loupe_insn *insn,
		     const struct loupe_insn_print_opts *opts)
{
	uint8_t class = BPF_CLASS(insn->code), op = BPF_OP(insn->code);
	char r = half(class);

	if (op == BPF_CALL) {
		put_call(text, insn, opts);
	} else if (insn->code == (BPF_JMP | BPF_JA)) {
		put(text, "goto pc%+d", insn->off);
	} else if (insn->code == (BPF_JMP32 | BPF_JA)) {
		put(text, "gotol pc%+d", insn->imm);
	} else if (insn_is_may_goto(insn)) {
		put(text, "may_goto pc%+d", insn->off);
	} else if (insn->code == (BPF_JMP | BPF_EXIT)) {
		put(text, "exit");
	} else {
		put(text, "if %c%d %s ", r, insn->dst_reg, or_null(insn_jump_ops[op >> 4]));
		if (BPF_SRC(insn->code) == BPF_X)
			put(text, "%c%d", r, insn->src_reg);
		else
			put(text, "0x%x", (uint32_t)insn->imm);
		put(text, " goto pc%+d", insn->off);
	}
}

/* The word before the opcode in a line about an instruction without a printed form, else NULL. */
static const char *bug_word(const struct loupe_insn *insn)
{
	uint8_t mode = BPF_MODE(insn->code), size = BPF_SIZE(insn->code);

	switch (BPF_CLASS(insn->code)) {
	case BPF_LD:
		if (mode == BPF_ABS || mode == BPF_IND || insn_is_ldimm64(insn))
			return NULL;
		return "BUG_ld_";
	case BPF_LDX:
		if (mode == BPF_MEM || (mode == BPF_MEMSX && size != BPF_DW))
			return NULL;
		return "BUG_ldx_";
	case BPF_ST:
		return mode == BPF_MEM || mode == BPF_NOSPEC ? NULL : "BUG_st_";
	case BPF_STX:
		if (mode == BPF_MEM || (mode == BPF_ATOMIC && insn_atomic_by_imm(insn->imm)))
			return NULL;
		return "BUG_";
	default:
		return NULL;
	}
}

static void put_memory(struct text *text, const struct loupe_insn *insn,
		       const struct loupe_insn_print_opts *opts)
{
	uint8_t mode = BPF_MODE(insn->code);

	switch (BPF_CLASS(insn->code)) {
	case BPF_LD:
		if (mode == BPF_ABS)
			put(text, "r0 = *(%s *)skb[%d]", mem_type(insn), insn->imm);
		else if (mode == BPF_IND)
			put(text, "r0 = *(%s *)skb[r%d + %d]", mem_type(insn), insn->src_reg,
			    insn->imm);
		else
			put_ldimm64(text, insn, opts);
		break;
	case BPF_LDX:
		put(text, "r%d = *(%s *)(r%d %+d)", insn->dst_reg,
		    mode == BPF_MEMSX ? insn_mem_signed_types[BPF_SIZE(insn->code) >> 3]
				      : mem_type(insn),
		    insn->src_reg, insn->off);
		break;
	case BPF_ST:
		if (mode == BPF_NOSPEC)
			put(text, "nospec");
		else
			put(text, "*(%s *)(r%d %+d) = %d", mem_type(insn), insn->dst_reg, insn->off,
			    insn->imm);
		break;
	default:
		if (mode == BPF_MEM)
			put(text, "*(%s *)(r%d %+d) = r%d", mem_type(insn), insn->dst_reg,
			    insn->off, insn->src_reg);
		else
			put_atomic(text, insn);
		break;
	}
}

int loupe_insn_print(char *buf, size_t size, const struct loupe_insn *insn,
		     const struct loupe_insn_print_opts *opts)
{
	static const struct loupe_insn_print_opts defaults;
	struct text text = { .buf = buf, .size = size };
	const char *bug = bug_word(insn);

	if (size)
		buf[0] = '\0';
	if (!opts)
		opts = &defaults;
	if (bug) {
		put(&text, "%s%02x", bug, insn->code);
		return (int)text.len;
	}
	if (!opts->no_code)
		put(&text, "(%02x) ", insn->code);
	switch (BPF_CLASS(insn->code)) {
	case BPF_ALU:
	case BPF_ALU64:
		put_alu(&text, insn);
		break;
	case BPF_JMP:
	case BPF_JMP32:
		put_jump(&text, insn, opts);
		break;
	default:
		put_memory(&text, insn, opts);
		break;
	}
	return (int)text.len;
}

unsigned int loupe_insn_slots(const struct loupe_insn *insn)
{
	return insn_is_ldimm64(insn) ? 2 : 1;
}

/* The map that an ldimm64 names, NULL when the image has none for it. */
static const struct loupe_map *map_of(const struct loupe_image *image,
				      const struct loupe_insn *insn)
{
	int32_t fd = insn->imm;
	int idx;

	if (!image)
		return NULL;
	if (insn->src_reg == BPF_PSEUDO_MAP_IDX || insn->src_reg == BPF_PSEUDO_MAP_IDX_VALUE) {
		if (fd < 0 || (uint32_t)fd >= image->fd_array_cnt)
			return NULL;
		fd = image->fd_array[fd];
	}
	idx = loupe_image_map_by_fd(image, fd);
	return idx < 0 ? NULL : &image->maps[idx];
}

int loupe_insn_symbol(void *image, const struct loupe_insn *insn, char *buf, size_t size)
{
	bool by_idx =
		insn->src_reg == BPF_PSEUDO_MAP_IDX || insn->src_reg == BPF_PSEUDO_MAP_IDX_VALUE;
	const struct loupe_map *map;
	char name[64];

	switch (insn->src_reg) {
	case 0:
		return snprintf(buf, size, "0x%" PRIx64 " ll", insn_imm64(insn));
	case BPF_PSEUDO_MAP_FD:
	case BPF_PSEUDO_MAP_VALUE:
	case BPF_PSEUDO_MAP_IDX:
	case BPF_PSEUDO_MAP_IDX_VALUE:
		map = map_of(image, insn);
		if (map && map->name[0] && !by_idx)
			snprintf(name, sizeof(name), "%.*s", (int)sizeof(map->name), map->name);
		else if (map && map->name[0])
			snprintf(name, sizeof(name), "#%d %.*s", insn->imm, (int)sizeof(map->name),
				 map->name);
		else
			snprintf(name, sizeof(name), by_idx ? "#%d" : "fd %d", insn->imm);
		if (insn->src_reg == BPF_PSEUDO_MAP_FD || insn->src_reg == BPF_PSEUDO_MAP_IDX)
			return snprintf(buf, size, "map[%s]", name);
		return snprintf(buf, size, "map_value[%s]+%u", name, (uint32_t)insn[1].imm);
	case BPF_PSEUDO_BTF_ID:
		return snprintf(buf, size, "btf_id %u fd %d", (uint32_t)insn[0].imm, insn[1].imm);
	case BPF_PSEUDO_FUNC:
		return snprintf(buf, size, "func pc%+d", insn->imm);
	default:
		return snprintf(buf, size, "0x%" PRIx64 " ll", insn_imm64(insn));
	}
}
