// SPDX-License-Identifier: GPL-2.0-only
/*
 * Any program, however wrong, gets an answer from the verifier, and the same answer whether
 * somebody listens or not.
 *
 * Input that starts like assembler text (with ".", ";" or "#") is assembled, so that the golden
 * programs are seeds as they are; what follows a NUL changes single instructions of the result, for
 * changed text rarely assembles. Anything else is a header and either instruction slots as they
 * are or five bytes for each instruction, from which something is made that survives the first
 * phases: jumps stay within their function, maps exist, functions have a BTF prototype.
 */
#include <stdlib.h>
#include <string.h>

#include "bpfloupe/asm.h"
#include "bpfloupe/log.h"
#include "bpfloupe/trace.h"
#include "btf/kernel_types.h"
#include "insn/opcodes.h"
#include "load/target.h"

enum {
	MAX_SLOTS = 600,
	MAX_FUNCS = 8,
	INSN_LIMIT = 4000,
	MEMORY_LIMIT = 256 << 20,
	TYPES = 33,  /* program types, one more than there are */
	ATTACH = 60, /* attach types, likewise */
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* First byte of the knobs. */
enum {
	UNPRIVILEGED = 1 << 0,
	STATE_FREQ = 1 << 1,
	STRICT = 1 << 2,
	NO_PRUNING = 1 << 3,
	INVARIANTS = 1 << 4,
	SLEEPABLE = 1 << 5,
	BTF_FUNCS = 1 << 6,
	RAW = 1 << 7,
};

struct header {
	uint8_t type, attach, knobs, prototypes;
};

/* Maps of each kind that helpers tell apart, and prototypes of each kind of argument. */
static const char template_text[] =
	".type xdp\n"
	".decl \"struct bpf_spin_lock { __u32 val; };\"\n"
	".decl \"struct bpf_timer { __u64 a[2]; };\"\n"
	".decl \"struct locked { struct bpf_spin_lock l; int n; };\"\n"
	".decl \"struct timed { struct bpf_timer t; __u64 n; };\"\n"
	".decl \"struct pair { __u64 a; __u32 b; __u32 c; };\"\n"
	".map array type=array key=4 value=64 entries=4\n"
	".map hash type=hash key=4 value=64 entries=8\n"
	".map percpu type=percpu_array key=4 value=16 entries=2\n"
	".map progs type=prog_array key=4 value=4 entries=4\n"
	".map events type=perf_event_array key=4 value=4 entries=2\n"
	".map queue type=queue key=0 value=8 entries=4\n"
	".map stack type=stack_trace key=4 value=64 entries=4\n"
	".map bloom type=bloom_filter key=0 value=8 entries=8\n"
	".map ring type=ringbuf entries=4096\n"
	".map user type=user_ringbuf entries=4096\n"
	".map devices type=devmap key=4 value=4 entries=4\n"
	".map xsks type=xskmap key=4 value=4 entries=4\n"
	".map socks type=sockmap key=4 value=8 entries=4\n"
	".map sockhash type=sockhash key=4 value=8 entries=4\n"
	".map storage type=cgroup_storage key=16 value=8 entries=0\n"
	".map cgroups type=cgroup_array key=4 value=4 entries=4\n"
	".map sks type=sk_storage key=4 value=4 entries=0 flags=1 btf_key=10 btf_value=10\n"
	".map outer type=array_of_maps key=4 value=4 entries=4 inner=array\n"
	".map .rodata type=array key=4 value=16 entries=1 flags=0x80 frozen "
	"data=256425730000000001020304050607ff\n"
	".map locked type=hash key=4 value=8 entries=4 btf_key=10 btf_value=9\n"
	".map timed type=array key=4 value=24 entries=4 btf_key=10 btf_value=11\n"
	".func \"int f0(void *ctx)\" global\n r0 = 0\n exit\n"
	".func \"int f1(int a, __u64 b)\" static\n r0 = 0\n exit\n"
	".func \"int f2(struct xdp_md *ctx, struct pair *p)\" global\n r0 = 0\n exit\n"
	".func \"int f3(struct pair *p __arg_nonnull, int n)\" global\n r0 = 0\n exit\n"
	".func \"long f4(void *map, void *key, void *value, void *ctx)\" static\n r0 = 0\n exit\n"
	".func \"void f5(struct __sk_buff *ctx, int n)\" global\n exit\n"
	".func \"int f6(void *ctx __arg_ctx, struct locked *l, struct timed *t)\" global\n"
	" r0 = 0\n exit\n";

static const struct loupe_image *template_image(void)
{
	static struct loupe_program_list list;
	struct loupe_error err;

	if (!list.cnt &&
	    loupe_asm_load("template", template_text, strlen(template_text), &list, &err))
		abort();
	return list.progs[0].image;
}

/* --- one verification ----------------------------------------------------------------------- */

static void discard(void *ctx, const char *text, size_t len)
{
	*(size_t *)ctx += len + (len ? (size_t)text[0] : 0);
}

static void check_result(const struct loupe_image *image, const struct loupe_verify_result *result)
{
	if (result->verdict == LOUPE_ACCEPTED && result->err)
		abort();
	if (result->verdict == LOUPE_REJECTED && result->err >= 0)
		abort();
	if ((result->verdict == LOUPE_NOT_JUDGED || result->verdict == LOUPE_STOPPED) &&
	    !result->reason[0])
		abort();
	if (result->insn_idx < -1 || result->insn_idx > (int32_t)image->insn_cnt)
		abort();
}

static void verify(const struct loupe_image *image, uint8_t knobs)
{
	struct loupe_verify_opts opts;
	struct loupe_verify_result alone, heard;
	struct loupe_log_opts log_opts = { .size = sizeof(log_opts), .sink = discard };
	struct loupe_trace *trace = loupe_trace_create(image);
	struct loupe_log *log;
	size_t sum = 0;

	loupe_verify_opts_init(&opts);
	opts.unprivileged = knobs & UNPRIVILEGED;
	opts.no_pruning = knobs & NO_PRUNING;
	opts.insn_limit = INSN_LIMIT;
	opts.memory_limit = MEMORY_LIMIT;
	if (loupe_verify(image, &opts, &alone))
		abort();
	check_result(image, &alone);

	log_opts.level = knobs & STRICT ? LOUPE_LOG_LEVEL1 : LOUPE_LOG_LEVEL2 | LOUPE_LOG_STATS;
	log_opts.sink_ctx = &sum;
	log_opts.unprivileged = opts.unprivileged;
	if (!trace || loupe_log_create(image, &log_opts, &log))
		abort();
	opts.listeners[opts.listener_cnt++] = loupe_trace_listener(trace);
	opts.listeners[opts.listener_cnt++] = loupe_log_listener(log);
	if (loupe_verify(image, &opts, &heard) || loupe_trace_finish(trace) ||
	    loupe_log_finish(log))
		abort();
	check_result(image, &heard);
	if (alone.verdict != heard.verdict || alone.err != heard.err ||
	    alone.phase != heard.phase || alone.insn_idx != heard.insn_idx ||
	    memcmp(&alone.counters, &heard.counters, sizeof(alone.counters)) != 0)
		abort();
	if (loupe_trace_step_cnt(trace) != heard.counters.insn_processed)
		abort();
	loupe_verify_result_finish(&alone);
	loupe_verify_result_finish(&heard);
	loupe_log_destroy(log);
	loupe_trace_destroy(trace);
}

/* The rest after a NUL: which slot, what of it, and a value of two bytes. */
static void edit(struct loupe_image *image, const uint8_t *edits, size_t size)
{
	for (; size >= 4 && image->insn_cnt; edits += 4, size -= 4) {
		struct loupe_insn *insn = &image->insns[edits[0] % image->insn_cnt];
		int16_t value = (int16_t)(edits[2] | edits[3] << 8);

		switch (edits[1] % 8) {
		case 0:
			insn->code = edits[2];
			break;
		case 1:
			insn->code = (uint8_t)((insn->code & 7) | (edits[2] & 0xf8));
			break;
		case 2:
			insn->dst_reg = edits[2] % 11 & 15;
			break;
		case 3:
			insn->src_reg = edits[2] % 11 & 15;
			break;
		case 4:
			insn->off = value;
			break;
		case 5:
			insn->off = (int8_t)edits[2];
			break;
		case 6:
			insn->imm = value;
			break;
		default:
			insn->imm ^= (int32_t)((uint32_t)edits[2] << (edits[1] >> 3));
			break;
		}
	}
}

static bool may_be_unprivileged(const struct loupe_image *image)
{
	return image->prog_type == BPF_PROG_TYPE_SOCKET_FILTER ||
	       image->prog_type == BPF_PROG_TYPE_CGROUP_SKB;
}

/* The golden programs' types, and one of them for a program that names its target. */
static void give_types(struct loupe_image *image)
{
	static struct loupe_kernel_types *types;

	if (!types)
		types = loupe_kernel_types_create(KERNEL_TYPES);
	image->kernel_types = loupe_kernel_types_ref(types);
	if (target_resolve(image, KERNEL_TYPES))
		abort();
}

static void verify_text(const uint8_t *data, size_t size)
{
	const uint8_t *nul = memchr(data, 0, size);
	size_t len = nul ? (size_t)(nul - data) : size;
	struct loupe_program_list list;
	uint8_t knobs = 0;

	for (size_t i = 0; i < size; i++)
		knobs = (uint8_t)(knobs * 31 + data[i]);
	if (loupe_asm_load("input", (const char *)data, len, &list, NULL))
		return;
	for (uint32_t i = 0; i < list.cnt && i < 2; i++) {
		struct loupe_image *image = list.progs[i].image;

		give_types(image);
		if (nul)
			edit(image, nul + 1, size - len - 1);
		if (!may_be_unprivileged(image))
			knobs &= (uint8_t)~UNPRIVILEGED;
		verify(image, knobs);
	}
	loupe_program_list_finish(&list);
}

/* --- instructions from bytes ---------------------------------------------------------------- */

enum kind {
	PLAIN, /* registers, offset and immediate as they come */
	MOST,  /* an eighth as it comes, else without what the opcode has no use for */
	JUMP,
	LONG_JUMP,
	CALL,
	CALL_FUNC,
	MAP,
	MAP_VALUE,
	FUNC,
	CONST,
	LOOKUP,
	PACKET,
	NEXT_FUNC,
};

static const struct op {
	uint8_t code, kind;
} ops[] = {
	{ 0x07, MOST },
	{ 0x0f, MOST },
	{ 0x17, MOST },
	{ 0x1f, MOST },
	{ 0x27, MOST },
	{ 0x2f, MOST },
	{ 0x37, MOST },
	{ 0x3f, MOST },
	{ 0x47, MOST },
	{ 0x4f, MOST },
	{ 0x57, MOST },
	{ 0x57, MOST },
	{ 0x5f, MOST },
	{ 0x67, MOST },
	{ 0x6f, MOST },
	{ 0x77, MOST },
	{ 0x7f, MOST },
	{ 0x87, MOST },
	{ 0x97, MOST },
	{ 0x9f, MOST },
	{ 0xa7, MOST },
	{ 0xaf, MOST },
	{ 0xb7, MOST },
	{ 0xb7, MOST },
	{ 0xbf, MOST },
	{ 0xbf, MOST },
	{ 0xbf, MOST },
	{ 0xbf, PLAIN },
	{ 0xc7, MOST },
	{ 0xcf, MOST },
	{ 0xd4, PLAIN },
	{ 0xdc, PLAIN },
	{ 0xd7, PLAIN },
	{ 0x04, MOST },
	{ 0x0c, MOST },
	{ 0x14, MOST },
	{ 0x1c, MOST },
	{ 0x24, MOST },
	{ 0x2c, MOST },
	{ 0x34, MOST },
	{ 0x3c, PLAIN },
	{ 0x44, MOST },
	{ 0x4c, MOST },
	{ 0x54, MOST },
	{ 0x5c, MOST },
	{ 0x64, MOST },
	{ 0x6c, MOST },
	{ 0x74, MOST },
	{ 0x7c, MOST },
	{ 0x84, MOST },
	{ 0x94, PLAIN },
	{ 0x9c, MOST },
	{ 0xa4, MOST },
	{ 0xac, MOST },
	{ 0xb4, MOST },
	{ 0xbc, MOST },
	{ 0xbc, PLAIN },
	{ 0xc4, MOST },
	{ 0xcc, MOST },
	/* memory */
	{ 0x61, MOST },
	{ 0x69, MOST },
	{ 0x71, MOST },
	{ 0x79, MOST },
	{ 0x79, MOST },
	{ 0x79, MOST },
	{ 0x81, MOST },
	{ 0x89, MOST },
	{ 0x91, MOST },
	{ 0x62, MOST },
	{ 0x6a, MOST },
	{ 0x72, MOST },
	{ 0x7a, MOST },
	{ 0x63, MOST },
	{ 0x6b, MOST },
	{ 0x73, MOST },
	{ 0x7b, MOST },
	{ 0x7b, MOST },
	{ 0x7b, MOST },
	{ 0xc3, PLAIN },
	{ 0xdb, PLAIN },
	{ 0x20, MOST },
	{ 0x28, MOST },
	{ 0x30, MOST },
	{ 0x40, MOST },
	{ 0x50, MOST },
	/* jumps */
	{ 0x05, JUMP },
	{ 0x06, LONG_JUMP },
	{ 0x15, JUMP },
	{ 0x1d, JUMP },
	{ 0x25, JUMP },
	{ 0x2d, JUMP },
	{ 0x35, JUMP },
	{ 0x3d, JUMP },
	{ 0x45, JUMP },
	{ 0x4d, JUMP },
	{ 0x55, JUMP },
	{ 0x5d, JUMP },
	{ 0x65, JUMP },
	{ 0x6d, JUMP },
	{ 0x75, JUMP },
	{ 0x7d, JUMP },
	{ 0xa5, JUMP },
	{ 0xad, JUMP },
	{ 0xb5, JUMP },
	{ 0xbd, JUMP },
	{ 0xc5, JUMP },
	{ 0xcd, JUMP },
	{ 0xd5, JUMP },
	{ 0xdd, JUMP },
	{ 0x16, JUMP },
	{ 0x1e, JUMP },
	{ 0x26, JUMP },
	{ 0x2e, JUMP },
	{ 0x46, JUMP },
	{ 0x56, JUMP },
	{ 0xa6, JUMP },
	{ 0xae, JUMP },
	{ 0x66, JUMP },
	{ 0xce, JUMP },
	{ 0xde, JUMP },
	{ 0xe5, JUMP },
	{ 0x95, MOST },
	/* what takes more than one instruction or a table */
	{ 0x85, CALL },
	{ 0x85, CALL },
	{ 0x85, CALL },
	{ 0x85, CALL },
	{ 0x85, CALL_FUNC },
	{ 0x18, MAP },
	{ 0x18, MAP },
	{ 0x18, MAP_VALUE },
	{ 0x18, FUNC },
	{ 0x18, CONST },
	{ 0, LOOKUP },
	{ 0, LOOKUP },
	{ 0, PACKET },
	{ 0, NEXT_FUNC },
};

struct program {
	struct loupe_insn insns[MAX_SLOTS];
	uint32_t cnt;
	uint32_t func[MAX_FUNCS + 1]; /* first slots */
	uint32_t func_cnt;
	/* jumps and calls are completed once all is there: kind, or PLAIN */
	uint8_t later[MAX_SLOTS];
};

static void put(struct program *prog, uint8_t code, uint8_t dst, uint8_t src, int off, int32_t imm)
{
	if (prog->cnt < MAX_SLOTS)
		prog->insns[prog->cnt++] = (struct loupe_insn){
			.code = code,
			.dst_reg = dst & 15,
			.src_reg = src & 15,
			.off = (int16_t)off,
			.imm = imm,
		};
}

static void put_later(struct program *prog, const struct loupe_insn *insn, enum kind kind)
{
	if (prog->cnt < MAX_SLOTS)
		prog->later[prog->cnt] = kind;
	put(prog, insn->code, insn->dst_reg, insn->src_reg, insn->off, insn->imm);
}

static void put_wide(struct program *prog, uint8_t dst, uint8_t pseudo, int32_t low, int32_t high)
{
	put(prog, 0x18, dst, pseudo, 0, low);
	put(prog, 0, 0, 0, 0, high);
}

static int32_t map_fd(uint8_t which)
{
	const struct loupe_image *image = template_image();

	return image->maps[which % image->map_cnt].fd;
}

static int32_t constant(uint8_t byte)
{
	static const int32_t odd[] = { INT32_MIN, INT32_MAX, -1,  0x7fff, 0xffff, 0x10000, 256,
				       4096,	  -4096,     255, 511,	  -512,	  1000,	   64 };

	if (byte < sizeof(odd) / sizeof(odd[0]))
		return odd[byte];
	return (int8_t)(byte ^ 0x40);
}

/* Helpers with the numbers that programs really use come more often. */
static int32_t helper(uint8_t byte)
{
	static const uint8_t common[] = { 1,   2,   3,	 6,   7,   12,	25,  26,  28,  51,  65,
					  84,  86,  87,	 88,  89,  93,	94,  112, 113, 130, 131,
					  132, 133, 164, 169, 170, 171, 181, 182, 189, 195 };

	return byte < 212 ? byte : common[(byte - 212) % sizeof(common)];
}

static void decode(struct program *prog, const uint8_t bytes[5])
{
	const struct op *op = &ops[bytes[0] % (sizeof(ops) / sizeof(ops[0]))];
	uint8_t dst = bytes[1] & 15, src = bytes[1] >> 4;
	struct loupe_insn insn = {
		.code = op->code,
		.dst_reg = (dst < 11 ? dst : dst - 5) & 15,
		.src_reg = (src < 11 ? src : src - 5) & 15,
		.off = (int16_t)((int8_t)bytes[2] * (bytes[3] & 0x80 ? 1 : 8)),
		.imm = constant(bytes[4]),
	};

	switch ((enum kind)op->kind) {
	case MOST:
		if ((bytes[3] & 7) != 7 && ((op->code & 7) == 7 || (op->code & 7) == 4)) {
			insn.off = 0;
			if (op->code & 8)
				insn.imm = 0;
			else
				insn.src_reg = 0;
		} else if ((bytes[3] & 7) != 7 && (op->code & 7) != 2) {
			insn.imm = 0;
		}
		put(prog, insn.code, insn.dst_reg, insn.src_reg, insn.off, insn.imm);
		break;
	case PLAIN:
		put(prog, insn.code, insn.dst_reg, insn.src_reg, insn.off, insn.imm);
		break;
	case JUMP:
	case LONG_JUMP:
		if (insn.code == 0xe5 || insn.code == 5 || insn.code == 6)
			insn.dst_reg = insn.src_reg = 0;
		put_later(prog, &insn, op->kind);
		break;
	case CALL:
		put(prog, op->code, 0, 0, 0, helper(bytes[4]));
		break;
	case CALL_FUNC:
		insn.dst_reg = 0;
		insn.src_reg = 1;
		insn.off = 0;
		put_later(prog, &insn, op->kind);
		break;
	case MAP:
		put_wide(prog, insn.dst_reg, 1, map_fd(bytes[2]), 0);
		break;
	case MAP_VALUE:
		put_wide(prog, insn.dst_reg, 2, map_fd(bytes[2]), bytes[3] % 24);
		break;
	case FUNC:
		insn.src_reg = 4;
		insn.off = 0;
		put_later(prog, &insn, op->kind);
		put(prog, 0, 0, 0, 0, 0);
		break;
	case CONST:
		put_wide(prog, insn.dst_reg, 0, insn.imm, constant(bytes[3]));
		break;
	case LOOKUP:
		put(prog, 0x7a, 10, 0, -8, bytes[3] & 3);
		put(prog, 0xbf, 2, 10, 0, 0);
		put(prog, 0x07, 2, 0, 0, -8);
		put_wide(prog, 1, 1, map_fd(bytes[2]), 0);
		put(prog, 0x85, 0, 0, 0, 1);
		put_later(prog, &(struct loupe_insn){ .code = 0x15, .off = insn.off }, JUMP);
		put(prog, 0xbf, 7 + (bytes[1] & 1), 0, 0, 0);
		break;
	case PACKET:
		put(prog, 0x61, 2, 6, bytes[1] & 1 ? 0 : 76, 0);
		put(prog, 0x61, 3, 6, bytes[1] & 1 ? 4 : 80, 0);
		put(prog, 0xbf, 4, 2, 0, 0);
		put(prog, 0x07, 4, 0, 0, bytes[3] & 63);
		put_later(prog,
			  &(struct loupe_insn){
				  .code = 0x2d, .dst_reg = 4, .src_reg = 3, .off = insn.off },
			  JUMP);
		break;
	case NEXT_FUNC:
		if (prog->func_cnt == MAX_FUNCS)
			break;
		put(prog, 0xb7, 0, 0, 0, bytes[3] & 1);
		put(prog, 0x95, 0, 0, 0, 0);
		prog->func[prog->func_cnt++] = prog->cnt;
		put(prog, 0xbf, 6, 1, 0, 0);
		break;
	}
}

static int jump(uint32_t at, uint32_t start, uint32_t end, int off)
{
	if (off >= 0 || at == start)
		return at + 1 < end ? (int)((uint32_t)abs(off) % (end - at - 1)) : 0;
	return -1 - (int)((uint32_t)-off % (at - start));
}

static void complete(struct program *prog)
{
	uint32_t func = 0;

	prog->func[prog->func_cnt] = prog->cnt;
	for (uint32_t i = 0; i < prog->cnt; i++) {
		struct loupe_insn *insn = &prog->insns[i];
		uint32_t callee = prog->func[(uint32_t)insn->imm % prog->func_cnt];
		int off;

		while (func + 1 < prog->func_cnt && prog->func[func + 1] <= i)
			func++;
		off = jump(i, prog->func[func], prog->func[func + 1], insn->off);
		switch ((enum kind)prog->later[i]) {
		case JUMP:
			insn->off = (int16_t)off;
			if (insn->code & 8 || insn->code == 5 || insn->code == 0xe5)
				insn->imm = 0;
			else
				insn->src_reg = 0;
			break;
		case LONG_JUMP:
			insn->off = 0;
			insn->imm = off;
			break;
		case CALL_FUNC:
		case FUNC:
			insn->imm = (int32_t)callee - (int32_t)i - 1;
			break;
		default:
			break;
		}
	}
}

static void make_insns(struct program *prog, const uint8_t *data, size_t size)
{
	prog->func[prog->func_cnt++] = 0;
	put(prog, 0xbf, 6, 1, 0, 0);
	for (; size >= 5 && prog->cnt < MAX_SLOTS - 12; data += 5, size -= 5)
		decode(prog, data);
	put(prog, 0xb7, 0, 0, 0, 0);
	put(prog, 0x95, 0, 0, 0, 0);
	complete(prog);
}

static void take_insns(struct program *prog, const uint8_t *data, size_t size)
{
	prog->cnt = (uint32_t)(size / sizeof(*prog->insns));
	if (prog->cnt > MAX_SLOTS)
		prog->cnt = MAX_SLOTS;
	memcpy(prog->insns, data, prog->cnt * sizeof(*prog->insns));
	for (uint32_t i = 0; i < prog->cnt; i++) {
		struct loupe_insn *insn = &prog->insns[i];

		if (insn->code == 0x18 && (insn->src_reg == 1 || insn->src_reg == 2) &&
		    insn->imm < 256)
			insn->imm = map_fd((uint8_t)insn->imm);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct loupe_func_info infos[MAX_FUNCS];
	struct loupe_image image = *template_image();
	struct program prog = { .cnt = 0 };
	struct header header;

	if (size && strchr(".;#", data[0])) {
		verify_text(data, size);
		return 0;
	}
	if (size < sizeof(header))
		return 0;
	memcpy(&header, data, sizeof(header));
	data += sizeof(header);
	size -= sizeof(header);
	if (header.knobs & RAW)
		take_insns(&prog, data, size);
	else
		make_insns(&prog, data, size);

	image.prog_type = header.type % TYPES;
	image.expected_attach_type = header.attach % ATTACH;
	if (header.knobs & UNPRIVILEGED) {
		image.prog_type =
			header.type & 1 ? BPF_PROG_TYPE_SOCKET_FILTER : BPF_PROG_TYPE_CGROUP_SKB;
		image.expected_attach_type &= 1;
	}
	image.insns = prog.insns;
	image.insn_cnt = prog.cnt;
	image.func_info = NULL;
	image.func_info_cnt = 0;
	if (header.knobs & BTF_FUNCS && prog.func_cnt) {
		const struct loupe_image *from = template_image();

		for (uint32_t i = 0; i < prog.func_cnt; i++) {
			uint32_t proto = i ? (header.prototypes + i) % from->func_info_cnt : 0;

			infos[i] = (struct loupe_func_info){ prog.func[i],
							     from->func_info[proto].type_id };
		}
		image.func_info = infos;
		image.func_info_cnt = prog.func_cnt;
	}
	image.prog_flags = (header.knobs & STATE_FREQ ? BPF_F_TEST_STATE_FREQ : 0u) |
			   (header.knobs & STRICT ? BPF_F_STRICT_ALIGNMENT : 0u) |
			   (header.knobs & INVARIANTS ? BPF_F_TEST_REG_INVARIANTS : 0u) |
			   (header.knobs & SLEEPABLE ? BPF_F_SLEEPABLE : 0u);
	verify(&image, header.knobs);
	return 0;
}
