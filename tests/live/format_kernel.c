// SPDX-License-Identifier: GPL-2.0-only
/*
 * usage: format_kernel [COUNT [SEED]]
 * Random format strings for bpf_snprintf(), against the running kernel: which ones it takes.
 */
#include "rig.h"

enum { FORMAT_SIZE = 10, DEFAULT_COUNT = 4000 };

static uint64_t state;

static uint32_t below(uint32_t n)
{
	state = state * 6364136223846793005ull + 1442695040888963407ull;
	return (uint32_t)(state >> 33) % n;
}

/* Mostly what means something after a percent sign. */
static void make_format(uint8_t *format)
{
	static const char *const pieces[] = {
		"%",	"%",	"%",  "p",  "l",   "d",	   "u",	   "x",	   "X",	   "i",	   "I",
		"4",	"6",	"k",  "K",  "s",   "S",	   "B",	   "c",	   "0",	   "+",	   "-",
		" ",	".",	",",  "a",  "\n",  "\x01", "\x7f", "\x80", "\x9f", "\xa0", "\xa1",
		"\xd7", "\xe9", "pI", "ps", "pks", "pi4",  "llx",  "%%",   "9"
	};
	uint32_t len = 0, cnt = below(FORMAT_SIZE);

	memset(format, 0, FORMAT_SIZE);
	for (uint32_t i = 0; i < cnt; i++) {
		const char *piece = pieces[below(sizeof(pieces) / sizeof(pieces[0]))];

		for (; *piece && len < FORMAT_SIZE - 1; piece++)
			format[len++] = (uint8_t)*piece;
	}
}

static void add_call(struct rig *rig, int offset, uint32_t data_len)
{
	rig_start(rig, BPF_PROG_TYPE_RAW_TRACEPOINT, 0);
	for (int off = -64; off < 0; off += 8)
		rig_add(rig, RIG_STORE_IMM(BPF_DW, BPF_REG_10, off, 1));
	rig_add(rig, RIG_MOV(BPF_REG_1, BPF_REG_10));
	rig_add(rig, RIG_ADD_IMM(BPF_REG_1, -64));
	rig_add(rig, RIG_MOV_IMM(BPF_REG_2, 16));
	rig_add_map(rig, BPF_REG_3, 0, true, offset);
	rig_add(rig, RIG_MOV(BPF_REG_4, BPF_REG_10));
	rig_add(rig, RIG_ADD_IMM(BPF_REG_4, -32));
	rig_add(rig, RIG_MOV_IMM(BPF_REG_5, (int)data_len));
	rig_add(rig, RIG_CALL(BPF_FUNC_snprintf));
	rig_add(rig, RIG_MOV_IMM(0, 0));
	rig_add(rig, RIG_EXIT);
}

int main(int argc, char **argv)
{
	static const uint32_t data_lens[] = { 0, 8, 8, 8, 16, 16, 24, 4 };
	int count = argc > 1 ? atoi(argv[1]) : DEFAULT_COUNT;
	static struct rig rig;
	struct loupe_error err;

	state = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
	if (loupe_kernel_usable(&err) || !loupe_kernel_is_modelled()) {
		printf("skipped: needs root and Linux 6.18\n");
		return RIG_SKIPPED;
	}
	for (int i = 0; i < count; i++) {
		uint8_t format[FORMAT_SIZE];
		struct loupe_map map = { .name = "format",
					 .type = BPF_MAP_TYPE_ARRAY,
					 .key_size = 4,
					 .value_size = FORMAT_SIZE,
					 .max_entries = 1,
					 .map_flags = BPF_F_RDONLY_PROG,
					 .inner_map_fd = -1,
					 .frozen = below(20) > 0,
					 .data = format,
					 .data_len = FORMAT_SIZE };
		char hex[2 * FORMAT_SIZE + 1] = "";

		make_format(format);
		if (!below(20))
			memset(format + below(FORMAT_SIZE), 'x', 1);
		if (!below(20))
			memset(format + 4, '.', FORMAT_SIZE - 4);
		for (int k = 0; k < FORMAT_SIZE; k++)
			snprintf(hex + 2 * k, 3, "%02x", format[k]);
		if (rig_init(&rig, &map, 1))
			return 1;
		add_call(&rig, below(4) ? 0 : (int)below(FORMAT_SIZE),
			 data_lens[below(sizeof(data_lens) / sizeof(data_lens[0]))]);
		rig_compare(&rig, "format %s", hex);
		rig_finish(&rig);
	}
	printf("%u same, %u different, %u not judged; %u accepted\n", rig.same, rig.differ,
	       rig.not_judged, rig.accepted);
	return rig.differ || rig.not_judged ? 1 : 0;
}
