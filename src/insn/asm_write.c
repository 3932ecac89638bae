// SPDX-License-Identifier: GPL-2.0-only
/* An image as assembler text. What the syntax cannot express is written as raw .insn slots. */
#include "bpfloupe/asm.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bpfloupe/insn.h"
#include "insn/opcodes.h"

#define HEX_PER_LINE 32

static void put_quoted(FILE *out, const char *text)
{
	fputc('"', out);
	for (; *text; text++) {
		unsigned char c = (unsigned char)*text;

		if (c == '"' || c == '\\')
			fprintf(out, "\\%c", c);
		else if (c < 0x20 || c == 0x7f)
			fprintf(out, "\\x%02x", c);
		else
			fputc(c, out);
	}
	fputc('"', out);
}

/* Whether the assembler reads name as one word. */
static bool is_plain(const char *name)
{
	size_t len =
		strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.$");

	return len > 0 && name[len] == '\0';
}

static void put_name(FILE *out, const char *name)
{
	if (is_plain(name))
		fputs(name, out);
	else
		put_quoted(out, name);
}

static void put_hex(FILE *out, const char *before, const uint8_t *data, uint32_t len)
{
	for (uint32_t i = 0; i < len; i++) {
		if (i % HEX_PER_LINE == 0)
			fputs(before, out);
		fprintf(out, "%02x", data[i]);
		if (i % HEX_PER_LINE == HEX_PER_LINE - 1 || i + 1 == len)
			fputc('\n', out);
	}
}

/* A type by its name where it has one. */
static void put_typed(FILE *out, const char *before, uint32_t type, const char *name)
{
	if (name)
		fprintf(out, "%s%s", before, name);
	else
		fprintf(out, "%s%u", before, type);
}

static void put_nonzero(FILE *out, const char *before, uint32_t value)
{
	if (value)
		fprintf(out, "%s%u", before, value);
}

/* The map's name, cut to what a map can have. */
static void map_name(const struct loupe_map *map, char name[16])
{
	memcpy(name, map->name, 16);
	name[15] = '\0';
}

static void put_map(FILE *out, const struct loupe_map *map)
{
	char name[16], before[32];

	map_name(map, name);
	fputs(".map ", out);
	put_name(out, name);
	fprintf(out, " fd=%d", map->fd);
	put_typed(out, " type=", map->type, loupe_map_type_name(map->type));
	fprintf(out, " key=%u value=%u entries=%u", map->key_size, map->value_size,
		map->max_entries);
	if (map->map_flags)
		fprintf(out, " flags=0x%x", map->map_flags);
	if (map->map_extra)
		fprintf(out, " extra=0x%" PRIx64, map->map_extra);
	if (map->inner_map_fd != -1)
		fprintf(out, " inner=fd:%d", map->inner_map_fd);
	put_nonzero(out, " numa=", map->numa_node);
	put_nonzero(out, " btf_key=", map->btf_key_type_id);
	put_nonzero(out, " btf_value=", map->btf_value_type_id);
	put_nonzero(out, " btf_vmlinux_value=", map->btf_vmlinux_value_type_id);
	fprintf(out, "%s\n", map->frozen ? " frozen" : "");
	snprintf(before, sizeof(before), ".data fd:%d ", map->fd);
	put_hex(out, before, map->data, map->data_len);
}

/* The name that the number was found by, where there is or should be one. */
static void put_target(FILE *out, const struct loupe_image *image)
{
	if (!image->attach_target || !(image->attach_btf_id || image->attach_unset))
		return;
	fputs(".attach_target ", out);
	put_name(out, image->attach_target);
	fputc('\n', out);
}

static void put_header(FILE *out, const struct loupe_image *image)
{
	const char *name = image->name ? image->name : "";
	char prog_name[16], cut[16] = "";

	memcpy(prog_name, image->prog_name, sizeof(prog_name));
	prog_name[15] = '\0';
	strncpy(cut, name, sizeof(cut) - 1);
	fputs(".prog ", out);
	put_name(out, name);
	fputc('\n', out);
	if (strcmp(prog_name, cut) != 0) {
		fputs(".name ", out);
		put_name(out, prog_name);
		fputc('\n', out);
	}
	if (image->section) {
		fputs(".section ", out);
		put_quoted(out, image->section);
		fputc('\n', out);
	}
	put_typed(out, ".type ", image->prog_type, loupe_prog_type_name(image->prog_type));
	fputc('\n', out);
	if (image->expected_attach_type) {
		put_typed(out, ".attach ", image->expected_attach_type,
			  loupe_attach_type_name(image->expected_attach_type));
		fputc('\n', out);
	}
	put_target(out, image);
	if (image->attach_btf_id || image->attach_btf_fd)
		fprintf(out, ".attach_btf_id %u fd %d\n", image->attach_btf_id,
			image->attach_btf_fd);
	if (image->prog_flags)
		fprintf(out, ".flags 0x%x\n", image->prog_flags);
	if (image->kern_version)
		fprintf(out, ".kern_version 0x%x\n", image->kern_version);
	if (image->prog_ifindex)
		fprintf(out, ".ifindex %u\n", image->prog_ifindex);
	fputs(".license ", out);
	if (image->license)
		put_quoted(out, image->license);
	else
		fputs("none", out);
	fputc('\n', out);
}

static void put_tables(FILE *out, const struct loupe_image *image)
{
	for (uint32_t i = 0; i < image->map_cnt; i++)
		put_map(out, &image->maps[i]);
	for (uint32_t i = 0; i < image->fd_array_cnt; i++)
		fprintf(out, "%s%d%s", i ? " " : ".fd_array ", image->fd_array[i],
			i + 1 == image->fd_array_cnt ? "\n" : "");
	put_hex(out, ".btf ", image->btf, image->btf_size);
	for (uint32_t i = 0; i < image->func_info_cnt; i++)
		fprintf(out, ".func_info %u %u\n", image->func_info[i].insn_off,
			image->func_info[i].type_id);
	for (uint32_t i = 0; i < image->line_info_cnt; i++) {
		const struct loupe_line_info *line = &image->line_info[i];

		fprintf(out, ".line_info %u %u %u %u\n", line->insn_off, line->file_name_off,
			line->line_off, line->line_col);
	}
}

/* loupe_insn_print_opts.symbol: maps by name where the assembler finds them by it. */
static int named_symbol(void *ctx, const struct loupe_insn *insn, char *buf, size_t size)
{
	const struct loupe_image *image = ctx;
	bool is_value = insn->src_reg == BPF_PSEUDO_MAP_VALUE;
	int idx = loupe_image_map_by_fd(image, insn->imm), same = 0;
	char name[16], other[16];

	if ((insn->src_reg != BPF_PSEUDO_MAP_FD && !is_value) || idx < 0)
		return loupe_insn_symbol(NULL, insn, buf, size);
	map_name(&image->maps[idx], name);
	for (uint32_t i = 0; i < image->map_cnt; i++) {
		map_name(&image->maps[i], other);
		same += strcmp(name, other) == 0;
	}
	if (same != 1 || !is_plain(name))
		return loupe_insn_symbol(NULL, insn, buf, size);
	if (is_value)
		return snprintf(buf, size, "map_value[%s]+%u", name, (uint32_t)insn[1].imm);
	return snprintf(buf, size, "map[%s]", name);
}

static const char *any_kfunc(void *ctx, const struct loupe_insn *insn)
{
	(void)ctx;
	(void)insn;
	return "kfunc";
}

/* Whether the assembler makes insn (slots slots) from its text. */
static bool reads_back(const struct loupe_insn *insn, unsigned int slots,
		       const struct loupe_insn_print_opts *opts)
{
	struct loupe_insn again[2] = { 0 };
	char text[256];

	loupe_insn_print(text, sizeof(text), insn, opts);
	return loupe_asm_insn(text, again, NULL) == (int)slots &&
	       memcmp(again, insn, slots * sizeof(*insn)) == 0;
}

/* Distance of a jump, call or function address from the next instruction, if insn is one. */
static bool distance_of(const struct loupe_insn *insn, int64_t *distance)
{
	uint8_t class = BPF_CLASS(insn->code), op = BPF_OP(insn->code);

	if (insn_is_pseudo_call(insn) || insn_is_pseudo_func(insn) ||
	    insn->code == (BPF_JMP32 | BPF_JA)) {
		*distance = insn->imm;
		return true;
	}
	*distance = insn->off;
	return (class == BPF_JMP || class == BPF_JMP32) && op != BPF_CALL && op != BPF_EXIT;
}

/* The slot that insn number i leads to, -1 if it leads nowhere or not to the start of an
 * instruction. */
static int64_t target_of(const struct loupe_image *image, const uint8_t *starts, uint32_t i)
{
	int64_t distance;

	if (!distance_of(&image->insns[i], &distance))
		return -1;
	distance += (int64_t)i + 1;
	return distance >= 0 && distance < image->insn_cnt && starts[distance] ? distance : -1;
}

/* One instruction; returns its slots. */
static unsigned int put_insn(FILE *out, const struct loupe_image *image, const uint8_t *starts,
			     uint32_t i)
{
	const struct loupe_insn *insn = &image->insns[i];
	struct loupe_insn pair[2] = { *insn };
	unsigned int slots = loupe_insn_slots(insn);
	bool is_whole = slots <= image->insn_cnt - i;
	struct loupe_insn_print_opts opts = {
		.kfunc_name = any_kfunc,
		.symbol = loupe_insn_symbol,
		.no_code = true,
	};
	int64_t target = target_of(image, starts, i);
	char text[256], *distance;
	bool reads = false;

	if (is_whole && slots == 2)
		pair[1] = insn[1];
	for (int with_code = 0; is_whole && with_code < 2 && !reads; with_code++) {
		opts.no_code = !with_code;
		reads = reads_back(pair, slots, &opts);
	}
	opts.symbol = named_symbol;
	opts.ctx = (void *)(uintptr_t)image;
	loupe_insn_print(text, sizeof(text), pair, &opts);
	if (!reads) {
		slots = is_whole ? slots : 1;
		for (unsigned int slot = 0; slot < slots; slot++)
			fprintf(out, "\t.insn 0x%02x %u %u %d %d\n", insn[slot].code,
				insn[slot].dst_reg, insn[slot].src_reg, insn[slot].off,
				insn[slot].imm);
		return slots;
	}
	distance = strstr(text, " pc");
	if (target >= 0 && distance)
		fprintf(out, "\t%.*s L%" PRId64 "\n", (int)(distance - text), text, target);
	else
		fprintf(out, "\t%s\n", text);
	return slots;
}

static int put_insns(FILE *out, const struct loupe_image *image)
{
	uint8_t *starts = calloc((size_t)image->insn_cnt + 1, 2);
	uint8_t *is_target = starts ? starts + image->insn_cnt + 1 : NULL;

	if (!starts)
		return -ENOMEM;
	for (uint32_t i = 0; i < image->insn_cnt; i += loupe_insn_slots(&image->insns[i]))
		starts[i] = 1;
	for (uint32_t i = 0; i < image->insn_cnt; i++) {
		int64_t target = starts[i] ? target_of(image, starts, i) : -1;

		if (target >= 0)
			is_target[target] = 1;
	}
	for (uint32_t i = 0; i < image->insn_cnt;) {
		if (is_target[i])
			fprintf(out, "L%u:\n", i);
		i += put_insn(out, image, starts, i);
	}
	free(starts);
	return 0;
}

int loupe_asm_write(const struct loupe_image *image, char **text, size_t *len)
{
	size_t size = 0;
	FILE *out;
	int ret;

	*text = NULL;
	out = open_memstream(text, &size);
	if (!out)
		return -ENOMEM;
	put_header(out, image);
	put_tables(out, image);
	ret = put_insns(out, image);
	if (ferror(out))
		ret = -ENOMEM;
	if (fclose(out))
		ret = -ENOMEM;
	if (ret) {
		free(*text);
		*text = NULL;
		return ret;
	}
	if (len)
		*len = size;
	return 0;
}
