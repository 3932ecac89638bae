// SPDX-License-Identifier: GPL-2.0-only
/* Texts of registers, slots and frames as a live 6.18 kernel logged them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "bpfloupe/log.h"
#include "klog/scan.h"

/* SCALAR is everything unknown; what follows it overrides that. */
#pragma GCC diagnostic ignored "-Woverride-init"

#define UNKNOWN_RANGES                                                                  \
	.smin = INT64_MIN, .smax = INT64_MAX, .umax = UINT64_MAX, .s32_min = INT32_MIN, \
	.s32_max = INT32_MAX, .u32_max = UINT32_MAX
#define SCALAR .type = SCALAR_VALUE, UNKNOWN_RANGES, .var_off = { 0, UINT64_MAX }

static struct loupe_map maps[] = {
	{ .name = "xdpdump_.data", .fd = 3, .key_size = 4, .value_size = 12, .inner_map_fd = -1 },
	{ .name = "outer", .fd = 4, .key_size = 4, .value_size = 4, .inner_map_fd = 5 },
	{ .name = "template", .fd = 5, .key_size = 8, .value_size = 16, .inner_map_fd = -1 },
};

static struct loupe_image image = { .maps = maps, .map_cnt = 3 };

static struct loupe_names *make_names(void)
{
	struct loupe_names *names;

	assert_int_equal(loupe_names_create(&image, &names), 0);
	return names;
}

static void expect_reg(struct loupe_names *names, const struct loupe_reg *reg, uint32_t frameno,
		       const char *text)
{
	char buf[512];

	assert_int_equal(loupe_reg_print(buf, sizeof(buf), reg, frameno, names), strlen(text));
	assert_string_equal(buf, text);
}

#define EXPECT(text, ...) expect_reg(names, &(struct loupe_reg){ __VA_ARGS__ }, 0, text)

static void test_scalars(void **state)
{
	struct loupe_names *names = make_names();

	(void)state;
	EXPECT("", .type = NOT_INIT);
	EXPECT("scalar()", SCALAR);
	EXPECT("Pscalar()", SCALAR, .precise = true);
	EXPECT("0", .type = SCALAR_VALUE);
	EXPECT("P3", .type = SCALAR_VALUE, .var_off = { 3, 0 }, .precise = true);
	EXPECT("32767", .type = SCALAR_VALUE, .var_off = { 32767, 0 });
	EXPECT("0x8000", .type = SCALAR_VALUE, .var_off = { 32768, 0 });
	EXPECT("-32768", .type = SCALAR_VALUE, .var_off = { (uint64_t)-32768, 0 });
	EXPECT("0xffffffffffff7fff", .type = SCALAR_VALUE, .var_off = { (uint64_t)-32769, 0 });
	EXPECT("scalar(smin=0,smax=umax=0xffffffff,var_off=(0x0; 0xffffffff))", SCALAR, .smin = 0,
	       .smax = UINT32_MAX, .umax = UINT32_MAX, .var_off = { 0, UINT32_MAX });
	EXPECT("scalar(id=2,smin=smin32=0,smax=umax=smax32=umax32=0xffff,var_off=(0x0; 0xffff))",
	       SCALAR, .id = 2, .smin = 0, .smax = 0xffff, .umax = 0xffff, .s32_min = 0,
	       .s32_max = 0xffff, .u32_max = 0xffff, .var_off = { 0, 0xffff });
	EXPECT("scalar(smin=smin32=0,smax=umax=0xffff00000000,smax32=umax32=0,"
	       "var_off=(0x0; 0xffff00000000))",
	       SCALAR, .smin = 0, .smax = 0xffff00000000, .umax = 0xffff00000000, .s32_min = 0,
	       .s32_max = 0, .u32_max = 0, .var_off = { 0, 0xffff00000000 });
	/* linked with a distance */
	EXPECT("scalar(id=1+5)", SCALAR, .id = 1 | LOUPE_ADD_CONST64, .off = 5);
	EXPECT("scalar(id=10+1,smin=umin=smin32=umin32=10,smax=umax=smax32=umax32=11,"
	       "var_off=(0xa; 0x1))",
	       SCALAR, .id = 10 | LOUPE_ADD_CONST32, .off = 1, .smin = 10, .umin = 10,
	       .s32_min = 10, .u32_min = 10, .smax = 11, .umax = 11, .s32_max = 11, .u32_max = 11,
	       .var_off = { 0xa, 0x1 });
	/* minima that are equal as numbers but not in sign do not share one */
	EXPECT("scalar(smin=0x8000000000000001,smax=2)", SCALAR, .smin = INT64_MIN + 1, .smax = 2);
	EXPECT("scalar(smin=smin32=-5)", SCALAR, .smin = -5, .s32_min = -5);
	loupe_names_destroy(names);
}

static void test_pointers(void **state)
{
	struct loupe_names *names = make_names();

	(void)state;
	EXPECT("ctx()", .type = PTR_TO_CTX);
	EXPECT("fp0", .type = PTR_TO_STACK);
	EXPECT("fp-24", .type = PTR_TO_STACK, .off = -24);
	expect_reg(names, &(struct loupe_reg){ .type = PTR_TO_STACK, .off = -8 }, 1, "fp[0]-8");
	EXPECT("pkt(r=0)", .type = PTR_TO_PACKET);
	EXPECT("pkt(id=3,off=14,r=34,smin=smin32=0,smax=umax=smax32=umax32=60,var_off=(0x0; 0x3c))",
	       SCALAR, .type = PTR_TO_PACKET, .id = 3, .off = 14, .range = 34, .smin = 0,
	       .smax = 60, .umax = 60, .s32_min = 0, .s32_max = 60, .u32_max = 60,
	       .var_off = { 0, 0x3c });
	EXPECT("pkt_end()", .type = PTR_TO_PACKET_END);
	EXPECT("map_value(map=xdpdump_.data,ks=4,vs=12)", .type = PTR_TO_MAP_VALUE,
	       .map = { .nr = 1 });
	EXPECT("map_value_or_null(id=7,map=xdpdump_.data,ks=4,vs=12)",
	       .type = PTR_TO_MAP_VALUE | PTR_MAYBE_NULL, .id = 7, .map = { .nr = 1 });
	/* an inner map has its template's sizes and no name */
	EXPECT("map_ptr(ks=8,vs=16)", .type = CONST_PTR_TO_MAP, .map = { .nr = 5 });
	EXPECT("mem_or_null(id=2,sz=4)", .type = PTR_TO_MEM | PTR_MAYBE_NULL, .id = 2,
	       .mem = { .size = 4 });
	EXPECT("rdonly_untrusted_mem(sz=0)", .type = PTR_TO_MEM | MEM_RDONLY | PTR_UNTRUSTED);
	EXPECT("ringbuf_mem_or_null(id=2,ref_obj_id=2,sz=8)",
	       .type = PTR_TO_MEM | MEM_RINGBUF | PTR_MAYBE_NULL, .id = 2, .ref_obj_id = 2,
	       .mem = { .size = 8 });
	EXPECT("func()", .type = PTR_TO_FUNC, .subprogno = 1);
	EXPECT("arena", .type = PTR_TO_ARENA);
	EXPECT("trusted_ptr_or_null_?(id=1)", .type = PTR_TO_BTF_ID | PTR_TRUSTED | PTR_MAYBE_NULL,
	       .id = 1, .btf = { 1, 1 });
	loupe_names_destroy(names);
}

static struct loupe_stack *make_stack(uint32_t slots)
{
	struct loupe_stack *stack = calloc(1, sizeof(*stack) + slots * sizeof(stack->slot[0]));

	assert_non_null(stack);
	stack->cap = slots;
	return stack;
}

static void set_bytes(struct loupe_slot *slot, const char *chars)
{
	static const char names[] = "?rm0dif";

	for (int i = 0; i < LOUPE_REG_SIZE; i++)
		slot->type[i] = (uint8_t)(strchr(names, chars[i]) - names);
}

static void test_slots(void **state)
{
	struct loupe_frame frame = { .slot_cnt = 6, .stack = make_stack(6) };
	struct loupe_slot *slot = frame.stack->slot;
	char buf[256];

	(void)state;
	set_bytes(&slot[0], "????mmmm");
	loupe_slot_print(buf, sizeof(buf), &frame, 0, NULL);
	assert_string_equal(buf, "fp-8=????mmmm");
	/* half a slot spilled, zeros below */
	set_bytes(&slot[1], "mm00rrrr");
	slot[1].spilled = (struct loupe_reg){ SCALAR };
	loupe_slot_print(buf, sizeof(buf), &frame, 1, NULL);
	assert_string_equal(buf, "fp-16=mm00scalar()");
	assert_int_equal(loupe_slot_print(buf, sizeof(buf), &frame, 2, NULL), 0);
	/* a dynptr stands at its lower slot */
	set_bytes(&slot[3], "dddddddd");
	set_bytes(&slot[4], "dddddddd");
	slot[4].spilled = (struct loupe_reg){ .id = 1,
					      .ref_obj_id = 2,
					      .dynptr = { .type = 2, .first_slot = true } };
	assert_int_equal(loupe_slot_print(buf, sizeof(buf), &frame, 3, NULL), 0);
	loupe_slot_print(buf, sizeof(buf), &frame, 4, NULL);
	assert_string_equal(buf, "fp-40=dynptr_ringbuf(id=1,ref_id=2,dynptr_id=1)");
	loupe_frame_print(buf, sizeof(buf), &(struct loupe_state){ .frame = { &frame } }, 0, NULL);
	assert_string_equal(buf, " fp-8=????mmmm fp-16=mm00scalar()"
				 " fp-40=dynptr_ringbuf(id=1,ref_id=2,dynptr_id=1)");
	free(frame.stack);
}

/* What frame_text() writes of a slot is read as the same slot. */
static void test_slots_read(void **state)
{
	static const struct scan_names names;
	static const struct {
		const char *text;
		const char *bytes;
		uint32_t frameno;
		int32_t off; /* of the spilled pointer to the stack */
	} rows[] = {
		{ "fp-8=????mmmm", "????mmmm", 0, 0 },
		{ "fp-8=ffffffff", "ffffffff", 0, 0 },
		{ "fp-8=ffmmmmmm", "ffmmmmmm", 0, 0 },
		{ "fp-8=iiiimmmm", "iiiimmmm", 0, 0 },
		/* as long as eight bytes */
		{ "frame1: fp-8=fp[0]-72", "rrrrrrrr", 0, -72 },
		{ "frame1: fp-8=fp-72", "rrrrrrrr", 1, -72 },
		{ "fp-8=mm00scalar()", "mm00rrrr", 0, 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct scan_frame frame;
		struct loupe_slot want;

		frame_scan(rows[i].text, strlen(rows[i].text), &names, &frame);
		assert_int_equal(frame.foreign, 0);
		assert_true(frame.slots == 1);
		set_bytes(&want, rows[i].bytes);
		assert_memory_equal(frame.slot[0].type, want.type, sizeof(want.type));
		if (!rows[i].off)
			continue;
		assert_int_equal(frame.slot[0].spilled.type, PTR_TO_STACK);
		assert_int_equal(frame.slot[0].spilled.frameno, rows[i].frameno);
		assert_int_equal(frame.slot[0].spilled.off, rows[i].off);
	}
}

static void test_frames(void **state)
{
	struct loupe_frame frame = {
		.frameno = 1, .slot_cnt = 2, .stack = make_stack(2), .in_callback_fn = true
	};
	struct loupe_ref refs[] = { { .id = 7 }, { .id = 0 }, { .id = 9 } };
	struct loupe_state st = { .frame = { NULL, &frame }, .curframe = 1, .refs = refs };
	char buf[256];
	size_t len;

	(void)state;
	frame.regs[0] = (struct loupe_reg){ .type = SCALAR_VALUE };
	frame.regs[1] = (struct loupe_reg){ SCALAR };
	frame.regs[10] = (struct loupe_reg){ .type = PTR_TO_STACK, .frameno = 1 };
	set_bytes(&frame.stack->slot[1], "rrrrrrrr");
	frame.stack->slot[1].spilled =
		(struct loupe_reg){ .type = SCALAR_VALUE, .var_off = { 1, 0 } };
	len = loupe_frame_print(buf, sizeof(buf), &st, 1, NULL);
	assert_string_equal(buf, " frame1: R0=0 R1=scalar() R10=fp0 fp-16=1 cb");
	assert_int_equal(len, strlen(buf));
	st.ref_cnt = 3;
	loupe_frame_print_some(buf, sizeof(buf), &st, 1, 1u << 10, 1u << 0, NULL);
	assert_string_equal(buf, " frame1: R10=fp0 refs=7,9 cb");
	/* cut, but ended and counted */
	assert_int_equal(loupe_frame_print(buf, 10, &st, 1, NULL), len + strlen(" refs=7,9"));
	assert_string_equal(buf, " frame1: ");
	assert_int_equal(loupe_frame_print(NULL, 0, &st, 1, NULL), len + strlen(" refs=7,9"));
	free(frame.stack);
}

static void test_masks(void **state)
{
	char buf[512];

	(void)state;
	assert_int_equal(loupe_reg_mask_print(buf, sizeof(buf), 0), 0);
	assert_string_equal(buf, "");
	loupe_reg_mask_print(buf, sizeof(buf), 1u << 0 | 1u << 7);
	assert_string_equal(buf, "r0,r7");
	loupe_slot_mask_print(buf, sizeof(buf), 1ull << 0 | 1ull << 63);
	assert_string_equal(buf, "-8,-512");
	loupe_tnum_print(buf, sizeof(buf), (struct loupe_tnum){ 65536, 0 });
	assert_string_equal(buf, "0x10000");
	loupe_tnum_print(buf, sizeof(buf), (struct loupe_tnum){ 0, 0xff });
	assert_string_equal(buf, "(0x0; 0xff)");
	loupe_reg_type_print(buf, sizeof(buf), PTR_TO_BTF_ID | MEM_RCU | PTR_MAYBE_NULL);
	assert_string_equal(buf, "rcu_ptr_or_null_");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_scalars), cmocka_unit_test(test_pointers),
		cmocka_unit_test(test_slots),	cmocka_unit_test(test_slots_read),
		cmocka_unit_test(test_frames),	cmocka_unit_test(test_masks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
