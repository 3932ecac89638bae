// SPDX-License-Identifier: GPL-2.0-only
/*
 * Arithmetic and comparisons on random descriptions of two numbers: what the numbers really give
 * must be in the result, and the branch that they really take must not be excluded.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "verifier/range.h"

static uint64_t seed = 1;

static uint64_t rnd(void)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (seed >> 33) ^ (seed << 31);
}

static uint64_t number(void)
{
	static const uint64_t edges[] = { 0,
					  1ull << 31,
					  1ull << 32,
					  1ull << 63,
					  0x7fffffff80000000,
					  0xffffffff00000000,
					  0xffffffff80000000 };

	if (rnd() % 4 == 0)
		return rnd() << rnd() % 64;
	return edges[rnd() % (sizeof(edges) / sizeof(edges[0]))] + rnd() % 17 - 8;
}

static bool holds(const struct loupe_reg *reg, uint64_t x)
{
	return reg->umin <= x && x <= reg->umax && reg->smin <= (int64_t)x &&
	       (int64_t)x <= reg->smax && reg->u32_min <= (uint32_t)x &&
	       (uint32_t)x <= reg->u32_max && reg->s32_min <= (int32_t)x &&
	       (int32_t)x <= reg->s32_max && (x & ~reg->var_off.mask) == reg->var_off.value;
}

#define AROUND(type, min, max, x)                                              \
	do {                                                                   \
		type v_ = (type)(x), a_ = (type)number(), b_ = (type)number(); \
		if (rnd() % 2 && a_ <= v_)                                     \
			(min) = a_;                                            \
		if (rnd() % 2 && b_ >= v_)                                     \
			(max) = b_;                                            \
	} while (0)

/* A consistent description of x, or x alone. */
static struct loupe_reg describe(uint64_t x)
{
	struct loupe_reg reg = { 0 };

	if (rnd() % 4 == 0) {
		vf_reg_known(&reg, x);
		return reg;
	}
	vf_reg_unknown_imprecise(&reg);
	AROUND(uint64_t, reg.umin, reg.umax, x);
	AROUND(int64_t, reg.smin, reg.smax, x);
	AROUND(uint32_t, reg.u32_min, reg.u32_max, x);
	AROUND(int32_t, reg.s32_min, reg.s32_max, x);
	reg.var_off.mask = rnd() % 2 ? UINT64_MAX : number() | number();
	reg.var_off.value = x & ~reg.var_off.mask;
	vf_bounds_sync(&reg);
	return reg;
}

/* A privileged run in the middle of exploration, as far as arithmetic looks at it. */
static struct vf_env *new_env(void)
{
	static struct loupe_verify_opts opts;
	static struct loupe_state state;
	static struct vf_aux aux[2];
	static struct vf_env env;

	memset(&env, 0, sizeof(env));
	memset(&state, 0, sizeof(state));
	env.opts = &opts;
	env.slabs = vf_slabs_create(0, false);
	env.aux = aux;
	env.bpf_capable = env.bypass_spec_v1 = env.bypass_spec_v4 = env.allow_ptr_leaks = true;
	env.cur = &state;
	assert_non_null(vf_frame_init(&env, &state, 0, -1, 0));
	return &env;
}

/* The operation as the machine does it; false where its result is not tracked. */
static bool compute(const struct loupe_insn *insn, uint64_t x, uint64_t y, uint64_t *result)
{
	bool is64 = BPF_CLASS(insn->code) == BPF_ALU64;
	uint64_t bits = is64 ? 64 : 32;

	if (!is64) {
		x = (uint32_t)x;
		y = (uint32_t)y;
	}
	switch (BPF_OP(insn->code)) {
	case BPF_ADD:
		*result = x + y;
		break;
	case BPF_SUB:
		*result = x - y;
		break;
	case BPF_MUL:
		*result = x * y;
		break;
	case BPF_AND:
		*result = x & y;
		break;
	case BPF_OR:
		*result = x | y;
		break;
	case BPF_XOR:
		*result = x ^ y;
		break;
	case BPF_NEG:
		*result = 0 - x;
		break;
	case BPF_LSH:
	case BPF_RSH:
	case BPF_ARSH:
		if (y >= bits)
			return false;
		if (BPF_OP(insn->code) == BPF_LSH)
			*result = x << y;
		else if (BPF_OP(insn->code) == BPF_RSH)
			*result = x >> y;
		else
			*result = is64 ? (uint64_t)((int64_t)x >> y) : (uint64_t)((int32_t)x >> y);
		break;
	default:
		return false;
	}
	if (!is64)
		*result = (uint32_t)*result;
	return true;
}

static void arithmetic_is_sound(void **state)
{
	static const uint8_t ops[] = { BPF_ADD, BPF_SUB, BPF_MUL, BPF_AND, BPF_OR,
				       BPF_XOR, BPF_NEG, BPF_LSH, BPF_RSH, BPF_ARSH };
	struct vf_env *env = new_env();

	(void)state;
	for (int i = 0; i < 1000000; i++) {
		uint8_t op = ops[rnd() % sizeof(ops)];
		bool shift = op == BPF_LSH || op == BPF_RSH || op == BPF_ARSH;
		struct loupe_insn insn = { .code = (uint8_t)(op | BPF_X |
							     (rnd() % 2 ? BPF_ALU64 : BPF_ALU)) };
		uint64_t x = number(), y = shift ? rnd() % 70 : number(), want;
		struct loupe_reg dst = describe(x), src = describe(y);
		bool forks = dst.smin == -1 || dst.s32_min == -1; /* follows one of two values */

		if (!compute(&insn, x, y, &want) || ((op == BPF_AND || op == BPF_OR) && forks))
			continue;
		assert_int_equal(vf_alu_scalar(env, &insn, &dst, &src), 0);
		assert_true(holds(&dst, want));
	}
	vf_slabs_destroy(env->slabs);
}

static void byte_swaps(void **state)
{
	struct vf_env *env = new_env();
	struct loupe_insn insn = { .code = BPF_ALU64 | BPF_END, .imm = 16 };
	struct loupe_reg reg = { 0 };

	(void)state;
	vf_reg_known(&reg, 0x123456789abcdef0);
	reg.id = 5;
	assert_int_equal(vf_alu_scalar(env, &insn, &reg, &reg), 0);
	assert_int_equal(reg.umin, 0xf0de);
	assert_int_equal(reg.id, 0);

	insn.code = BPF_ALU | BPF_END | BPF_TO_BE;
	insn.imm = 64;
	vf_reg_known(&reg, 0x123456789abcdef0);
	assert_int_equal(vf_alu_scalar(env, &insn, &reg, &reg), 0);
	assert_true(reg.umin == 0xf0debc9a78563412 && reg.umax == reg.umin);

	insn.code = BPF_ALU | BPF_END | BPF_TO_LE; /* nothing to do: stays linked */
	vf_reg_unknown_imprecise(&reg);
	reg.id = 5;
	assert_int_equal(vf_alu_scalar(env, &insn, &reg, &reg), 0);
	assert_int_equal(reg.id, 5);
	assert_true(reg.umax == UINT64_MAX);

	insn.imm = 32;
	assert_int_equal(vf_alu_scalar(env, &insn, &reg, &reg), 0);
	assert_int_equal(reg.id, 0);
	assert_int_equal(reg.umax, UINT32_MAX);
	vf_slabs_destroy(env->slabs);
}

/* A mask that is 0 or -1 selects: each value is followed on its own. */
static void masks_fork(void **state)
{
	struct vf_env *env = new_env();
	struct loupe_insn insn = { .code = BPF_ALU64 | BPF_AND | BPF_K, .dst_reg = 3 };
	struct loupe_reg *dst = &vf_cur_regs(env)[3], eight = { 0 };

	(void)state;
	vf_reg_unknown_imprecise(dst);
	dst->smin = -1;
	dst->smax = 0;
	vf_bounds_sync(dst);
	vf_reg_known(&eight, 8);
	env->insn_idx = 1;
	assert_int_equal(vf_alu_scalar(env, &insn, dst, &eight), 0);
	assert_int_equal(dst->umin, 8);
	assert_int_equal(dst->umax, 8);
	assert_int_equal(env->branch_cnt, 1);
	assert_int_equal(env->head->insn_idx, 1);
	assert_true(vf_reg_is_null(&env->head->state.frame[0]->regs[3]));
	vf_slabs_destroy(env->slabs);
}

static bool condition(uint8_t op, bool jmp32, uint64_t x, uint64_t y)
{
	int64_t sx = jmp32 ? (int32_t)x : (int64_t)x, sy = jmp32 ? (int32_t)y : (int64_t)y;

	if (jmp32) {
		x = (uint32_t)x;
		y = (uint32_t)y;
	}
	switch (op) {
	case BPF_JEQ:
		return x == y;
	case BPF_JNE:
		return x != y;
	case BPF_JSET:
		return (x & y) != 0;
	case BPF_JGT:
		return x > y;
	case BPF_JGE:
		return x >= y;
	case BPF_JLT:
		return x < y;
	case BPF_JLE:
		return x <= y;
	case BPF_JSGT:
		return sx > sy;
	case BPF_JSGE:
		return sx >= sy;
	case BPF_JSLT:
		return sx < sy;
	default:
		return sx <= sy;
	}
}

static const uint8_t conditions[] = { BPF_JEQ, BPF_JNE,	 BPF_JSET, BPF_JGT,  BPF_JGE, BPF_JLT,
				      BPF_JLE, BPF_JSGT, BPF_JSGE, BPF_JSLT, BPF_JSLE };

static void comparisons_are_sound(void **state)
{
	struct vf_env *env = new_env();

	(void)state;
	for (int i = 0; i < 1000000; i++) {
		uint8_t op = conditions[rnd() % sizeof(conditions)];
		bool jmp32 = rnd() % 2, is_true;
		uint64_t x = number(), y = rnd() % 3 ? number() : x;
		struct loupe_reg a = describe(x), b = describe(y), ta = a, tb = b;
		int outcome = vf_branch_taken(&a, &b, op, jmp32);

		is_true = condition(op, jmp32, x, y);
		assert_true(outcome == -1 || outcome == is_true);
		if (outcome >= 0)
			continue;
		assert_int_equal(vf_branch_refine(env, &ta, &tb, &a, &b, op, jmp32), 0);
		assert_true(holds(is_true ? &ta : &a, x));
		assert_true(holds(is_true ? &tb : &b, y));
	}
	vf_slabs_destroy(env->slabs);
}

static struct loupe_reg between(uint64_t min, uint64_t max)
{
	struct loupe_reg reg = { 0 };

	vf_reg_unknown_imprecise(&reg);
	reg.umin = min;
	reg.umax = max;
	vf_bounds_sync(&reg);
	return reg;
}

static void certain_outcomes(void **state)
{
	struct loupe_reg low = between(0, 10), high = between(10, 20), five = { 0 }, ptr = { 0 };
	struct loupe_reg odd = between(0, UINT64_MAX), zero = { 0 };

	(void)state;
	vf_reg_known(&five, 5);
	vf_reg_known(&zero, 0);
	assert_int_equal(vf_branch_taken(&low, &high, BPF_JLE, false), 1);
	assert_int_equal(vf_branch_taken(&low, &high, BPF_JLT, false), -1);
	assert_int_equal(vf_branch_taken(&low, &high, BPF_JGT, true), 0);
	assert_int_equal(vf_branch_taken(&high, &five, BPF_JEQ, false), 0);
	assert_int_equal(vf_branch_taken(&five, &five, BPF_JNE, false), 0);

	odd.var_off = (struct loupe_tnum){ .value = 1, .mask = ~1ull };
	assert_int_equal(vf_branch_taken(&odd, &zero, BPF_JNE, false), 1); /* no bits agree */
	assert_int_equal(vf_branch_taken(&odd, &five, BPF_JSET, false), 1);
	assert_int_equal(vf_branch_taken(&zero, &odd, BPF_JSET, false), 0);

	ptr.type = PTR_TO_MAP_VALUE;
	assert_int_equal(vf_branch_taken(&ptr, &zero, BPF_JEQ, false), 0);
	assert_int_equal(vf_branch_taken(&ptr, &five, BPF_JEQ, false), -1);
	ptr.type |= PTR_MAYBE_NULL;
	assert_int_equal(vf_branch_taken(&ptr, &zero, BPF_JEQ, false), -1);
}

static void packet_outcomes(void **state)
{
	struct loupe_reg pkt = { .type = PTR_TO_PACKET, .range = 8 };
	struct loupe_reg end = { .type = PTR_TO_PACKET_END };

	(void)state;
	assert_int_equal(vf_branch_taken(&pkt, &end, BPF_JGT, false), -1);
	pkt.range = -2; /* beyond the end */
	assert_int_equal(vf_branch_taken(&pkt, &end, BPF_JGT, false), 1);
	assert_int_equal(vf_branch_taken(&pkt, &end, BPF_JLE, false), 0);
	assert_int_equal(vf_branch_taken(&end, &pkt, BPF_JGE, false), 0);
	pkt.range = -1; /* at the end */
	assert_int_equal(vf_branch_taken(&pkt, &end, BPF_JGT, false), -1);
	assert_int_equal(vf_branch_taken(&pkt, &end, BPF_JGE, false), 1);
	assert_int_equal(vf_branch_taken(&end, &pkt, BPF_JGT, false), 0);
}

static void linked_registers_round_trip(void **state)
{
	struct vf_linked_regs in = { .cnt = VF_MAX_LINKED_REGS }, out;

	(void)state;
	for (uint32_t i = 0; i < in.cnt; i++) {
		in.entry[i].frameno = (uint8_t)(7 - i);
		in.entry[i].at = (uint8_t)(i % 2 ? 63 - i : i);
		in.entry[i].is_reg = i % 2 == 0;
	}
	vf_linked_unpack(vf_linked_pack(&in), &out);
	assert_int_equal(out.cnt, in.cnt);
	for (uint32_t i = 0; i < in.cnt; i++) {
		assert_int_equal(out.entry[i].frameno, in.entry[i].frameno);
		assert_int_equal(out.entry[i].at, in.entry[i].at);
		assert_int_equal(out.entry[i].is_reg, in.entry[i].is_reg);
	}
	in.cnt = 0;
	assert_int_equal(vf_linked_pack(&in), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(arithmetic_is_sound),
		cmocka_unit_test(byte_swaps),
		cmocka_unit_test(masks_fork),
		cmocka_unit_test(comparisons_are_sound),
		cmocka_unit_test(certain_outcomes),
		cmocka_unit_test(packet_outcomes),
		cmocka_unit_test(linked_registers_round_trip),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
