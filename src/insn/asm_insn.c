// SPDX-License-Identifier: GPL-2.0-only
#include "insn/asm_insn.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "bpfloupe/asm.h"
#include "bpfloupe/insn.h"
#include "insn/asm_operand.h"
#include "insn/opcodes.h"
#include "insn/syntax.h"

static int parse_call(struct asm_scan *scan, struct asm_insn *out)
{
	struct loupe_insn *insn = &out->insn[0];
	struct asm_word word = { NULL, 0 };
	char name[64];
	const char *start;
	int helper = -ENOENT;
	bool is_kfunc = false, numbered;

	insn->code = BPF_JMP | BPF_CALL;
	asm_space(scan);
	start = scan->p;
	if (strncmp(start, "pc+", 3) == 0 || strncmp(start, "pc-", 3) == 0 || *start == '+' ||
	    *start == '-') {
		insn->src_reg = BPF_PSEUDO_CALL;
		return asm_target(scan, out, ASM_REF_JUMP32);
	}
	if (asm_take(scan, "<error>")) {
		is_kfunc = true;
	} else if (*start != '#' && asm_take_word(scan, &word)) {
		if (asm_word_copy(&word, name, sizeof(name)))
			helper = loupe_helper_by_name(name);
		is_kfunc = helper < 0 && !asm_word_is(&word, "unknown");
	}
	numbered = *scan->p == '#';
	if (numbered) {
		scan->p++;
		if (asm_imm32(scan, "the function's number", &insn->imm))
			return -EINVAL;
		if (helper >= 0 && helper != insn->imm)
			return asm_fail(scan, start,
					"helper %s has the number %d: leave it out or correct it",
					name, helper);
		/* "#0" is what the kernel prints of a weak kernel function that it lacks. */
		if (*start == '#' && !insn->imm)
			is_kfunc = true;
		insn->src_reg = is_kfunc ? BPF_PSEUDO_KFUNC_CALL : 0;
		/* The kernel calls a helper's number unknown when src_reg says that it is none. */
		if (asm_word_is(&word, "unknown") && loupe_helper_name((uint32_t)insn->imm))
			insn->src_reg = BPF_PSEUDO_KFUNC_CALL + 1;
		return 0;
	}
	if (helper >= 0) {
		insn->imm = helper;
		return 0;
	}
	if (word.len == 0 || (*start >= '0' && *start <= '9'))
		return asm_fail(
			scan, start,
			"expected a helper, a label, a distance such as pc+3, or #NUMBER here");
	insn->src_reg = BPF_PSEUDO_CALL;
	out->ref = ASM_REF_JUMP32;
	out->name = word;
	return 0;
}

/* "if r1 > r2 goto X"; "if" was taken. */
static int parse_if(struct asm_scan *scan, struct asm_insn *out)
{
	struct loupe_insn *insn = &out->insn[0];
	struct asm_reg dst, src;
	int best = -1, ret;
	size_t best_len = 0;

	if (asm_expect_reg(scan, false, &dst))
		return -EINVAL;
	asm_space(scan);
	for (int i = 0; i < 16; i++) {
		const char *word = insn_jump_ops[i];

		if (word && strlen(word) > best_len && strncmp(scan->p, word, strlen(word)) == 0) {
			best = i;
			best_len = strlen(word);
		}
	}
	if (best >= 0)
		scan->p += best_len;
	else if (asm_take(scan, "(null)"))
		best = BPF_JCOND >> 4;
	else
		return asm_fail(scan, scan->p, "expected == != < <= > >= & s< s<= s> or s>= here");
	insn->code = (uint8_t)(best << 4 | (dst.wide ? BPF_JMP : BPF_JMP32));
	asm_set_dst(insn, &dst);
	ret = asm_take_source(scan, &dst, &src);
	if (ret < 0)
		return ret;
	if (ret) {
		insn->code |= BPF_X;
		asm_set_src(insn, &src);
	} else {
		if (asm_imm32(scan, "a register or a number to compare with", &insn->imm))
			return -EINVAL;
		/* Kind 0 of this code has a form of its own, so this is another one. */
		if (insn->code == (BPF_JMP | BPF_JCOND))
			insn->src_reg = 1;
	}
	return asm_expect(scan, "goto") || asm_target(scan, out, ASM_REF_JUMP16) ? -EINVAL : 0;
}

/* "*(u32 *)(r1 +0) = r2" or "= 5"; the first '*' was taken. */
static int parse_store(struct asm_scan *scan, struct asm_insn *out)
{
	struct loupe_insn *insn = &out->insn[0];
	struct asm_reg dst, src;
	uint8_t size;

	if (asm_expect(scan, "(") || asm_cast_type(scan, NULL, &size) ||
	    asm_address(scan, &dst, &insn->off) || asm_expect(scan, "="))
		return -EINVAL;
	asm_set_dst(insn, &dst);
	if (asm_take_reg(scan, &src)) {
		insn->code = BPF_STX | BPF_MEM | size;
		asm_set_src(insn, &src);
		return 0;
	}
	insn->code = BPF_ST | BPF_MEM | size;
	return asm_imm32(scan, "a register or a number to store", &insn->imm);
}

/* "lock *(u32 *)(r1 +0) += r2"; "lock" was taken. */
static int parse_lock(struct asm_scan *scan, struct asm_insn *out)
{
	struct loupe_insn *insn = &out->insn[0];
	struct asm_reg dst, src;
	uint8_t size;

	if (asm_expect(scan, "*") || asm_expect(scan, "(") || asm_cast_type(scan, NULL, &size) ||
	    asm_address(scan, &dst, &insn->off))
		return -EINVAL;
	insn->code = BPF_STX | BPF_ATOMIC | size;
	asm_set_dst(insn, &dst);
	for (size_t i = 0; i < INSN_ATOMIC_CNT; i++) {
		if (insn_atomics[i].form != INSN_ATOMIC_LOCK ||
		    !asm_take(scan, insn_atomics[i].word))
			continue;
		insn->imm = insn_atomics[i].imm;
		if (asm_expect_reg(scan, false, &src))
			return -EINVAL;
		asm_set_src(insn, &src);
		return 0;
	}
	return asm_fail(scan, scan->p, "expected += &= |= or ^= here");
}

static int parse_store_release(struct asm_scan *scan, struct asm_insn *out)
{
	struct loupe_insn *insn = &out->insn[0];
	struct asm_reg dst, src;

	if (asm_atomic_address(scan, insn, &dst) || asm_expect(scan, ",") ||
	    asm_expect_reg(scan, false, &src) || asm_expect(scan, ")"))
		return -EINVAL;
	insn->imm = BPF_STORE_REL;
	asm_set_dst(insn, &dst);
	asm_set_src(insn, &src);
	return 0;
}

/* "r1 += r2", "w1 s>>= 3", ... from behind the register. */
static int parse_operator(struct asm_scan *scan, const struct asm_reg *left,
			  struct loupe_insn *insn)
{
	struct asm_reg src;
	int op = -1, ret;

	for (int i = 0; i < 16 && op < 0; i++) {
		if (insn_alu_signed_ops[i] && asm_take(scan, insn_alu_signed_ops[i])) {
			insn->off = 1;
			op = i;
		} else if (i != BPF_MOV >> 4 && insn_alu_ops[i] &&
			   asm_take(scan, insn_alu_ops[i])) {
			op = i;
		}
	}
	if (op < 0 && asm_take(scan, "(null)"))
		op = 0xe;
	if (op < 0)
		return asm_fail(scan, scan->p, "expected '=' or an operator such as '+=' here");
	insn->code = (uint8_t)(op << 4 | (left->wide ? BPF_ALU64 : BPF_ALU));
	asm_set_dst(insn, left);
	ret = asm_take_source(scan, left, &src);
	if (ret < 0)
		return ret;
	if (ret) {
		insn->code |= BPF_X;
		asm_set_src(insn, &src);
		return 0;
	}
	return asm_imm32(scan, "a register or a number", &insn->imm);
}

/* "BUG_ld_10": what the kernel prints where it has no form. Only the code is known from it. */
static int parse_bug(struct asm_scan *scan, struct loupe_insn *insn, const char *start)
{
	struct asm_word word;
	char text[16], again[16];
	unsigned int code;

	if (asm_take_word(scan, &word) && asm_word_copy(&word, text, sizeof(text)) &&
	    word.len > 2 && sscanf(text + word.len - 2, "%2x", &code) == 1) {
		insn->code = (uint8_t)code;
		/* An atomic one has no form because of its imm. */
		insn->imm = BPF_CLASS(code) == BPF_STX && BPF_MODE(code) == BPF_ATOMIC ? -1 : 0;
		loupe_insn_print(again, sizeof(again), insn, NULL);
		if (strcmp(again, text) == 0)
			return 0;
	}
	return asm_fail(scan, start, "no such instruction: use .insn CODE DST SRC OFF IMM");
}

static int parse_form(struct asm_scan *scan, int want, struct asm_insn *out)
{
	struct loupe_insn *insn = &out->insn[0];
	const char *start;
	struct asm_reg left;

	asm_space(scan);
	start = scan->p;
	if (asm_take_reg(scan, &left)) {
		asm_space(scan);
		if (scan->p[0] == '=' && scan->p[1] != '=') {
			scan->p++;
			return asm_value_parse(scan, &left, want, start, out);
		}
		return parse_operator(scan, &left, insn);
	}
	if (asm_take(scan, "*"))
		return parse_store(scan, out);
	if (asm_take(scan, "if"))
		return parse_if(scan, out);
	if (asm_take(scan, "call"))
		return parse_call(scan, out);
	if (asm_take(scan, "exit")) {
		insn->code = BPF_JMP | BPF_EXIT;
		return 0;
	}
	if (asm_take(scan, "goto")) {
		insn->code = BPF_JMP | BPF_JA;
		return asm_target(scan, out, ASM_REF_JUMP16);
	}
	if (asm_take(scan, "gotol")) {
		insn->code = BPF_JMP32 | BPF_JA;
		return asm_target(scan, out, ASM_REF_JUMP32);
	}
	if (asm_take(scan, "may_goto")) {
		insn->code = BPF_JMP | BPF_JCOND;
		return asm_target(scan, out, ASM_REF_JUMP16);
	}
	if (asm_take(scan, "lock"))
		return parse_lock(scan, out);
	if (asm_take(scan, "store_release"))
		return parse_store_release(scan, out);
	if (asm_take(scan, "nospec")) {
		insn->code = BPF_ST | BPF_NOSPEC;
		return 0;
	}
	if (strncmp(start, "BUG_", 4) == 0)
		return parse_bug(scan, insn, start);
	return asm_fail(scan, start,
			"unknown instruction '%.20s': write it as the verifier's log does, or use "
			".insn CODE DST SRC OFF IMM",
			start);
}

/* "(bf)" in front. 0 and ASM_ANY_CODE where there is none. */
static int parse_code(struct asm_scan *scan, int *code)
{
	unsigned int byte;
	int used = 0;

	*code = ASM_ANY_CODE;
	asm_space(scan);
	if (*scan->p != '(')
		return 0;
	if (sscanf(scan->p, "(%2x)%n", &byte, &used) != 1 || used != 4)
		return asm_fail(scan, scan->p,
				"expected the opcode's two hexadecimal digits in parentheses");
	scan->p += used;
	*code = (int)byte;
	return 0;
}

/* Takes the code that stands in front where it prints the same text; else the line contradicts
 * itself. */
static int apply_code(struct asm_scan *scan, int code, const char *at, struct asm_insn *out)
{
	struct loupe_insn_print_opts opts = { .no_code = true };
	struct loupe_insn other[2] = { out->insn[0], out->insn[1] };
	char ours[128], theirs[128];

	if (code == ASM_ANY_CODE || code == out->insn[0].code)
		return 0;
	other[0].code = (uint8_t)code;
	loupe_insn_print(ours, sizeof(ours), out->insn, &opts);
	loupe_insn_print(theirs, sizeof(theirs), other, &opts);
	if (strcmp(ours, theirs) != 0)
		return asm_fail(scan, at,
				"the opcode (%02x) does not go with this instruction, whose opcode "
				"is (%02x): correct one of them",
				(unsigned int)code, out->insn[0].code);
	out->insn[0].code = (uint8_t)code;
	return 0;
}

int asm_insn_parse(struct asm_scan *scan, struct asm_insn *out)
{
	const char *start;
	int code;

	*out = (struct asm_insn){ .slots = 1 };
	asm_space(scan);
	start = scan->p;
	if (parse_code(scan, &code) || parse_form(scan, code, out) || asm_expect_end(scan))
		return -EINVAL;
	return apply_code(scan, code, start, out);
}

int loupe_asm_insn(const char *line, struct loupe_insn *insn, struct loupe_error *err)
{
	struct asm_scan scan = { .line = line, .p = line, .err = err };
	struct asm_insn out;
	int used = 0;

	if (strchr(line, '\n'))
		return asm_fail(&scan, strchr(line, '\n'), "this is more than one line");
	if (sscanf(line, " %*[0-9] :%n", &used) == 0 && used > 0)
		scan.p += used;
	if (asm_insn_parse(&scan, &out))
		return -EINVAL;
	if (out.ref != ASM_REF_NONE)
		return asm_fail(&scan, out.name.p,
				"'%.*s' cannot be resolved here: use a distance or a number",
				(int)out.name.len, out.name.p);
	insn[0] = out.insn[0];
	insn[1] = out.insn[1];
	return (int)out.slots;
}
