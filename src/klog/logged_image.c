// SPDX-License-Identifier: GPL-2.0-only
/* The image behind a log: instructions, maps, functions and source lines, as far as it shows them.
 */
#include "klog/logged.h"

#include <errno.h>
#include <linux/btf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bpfloupe/asm.h"
#include "insn/opcodes.h"

enum {
	MAX_INSNS = (1 << 20) - 2 /* a trace's limit */,
	MAX_MAPS = 4096,
	MAX_TYPES = 1 << 16,
	MAX_FUNCS = 256
};

/* Where an insn's source is: offsets in the strings, and the line. */
struct place {
	uint32_t text, file, line;
	bool known;
};

struct builder {
	struct loupe_logged *log;
	struct loupe_image *image;
	struct place *places; /* by insn */
	uint32_t insn_cap, place_cap, map_cap;
	char *strings;
	uint32_t strings_len, strings_cap;
	uint32_t *table; /* offsets of strings by hash, 0: free */
	uint32_t string_cnt, table_cap;
	uint32_t func_start[MAX_FUNCS];
	uint32_t func_name[MAX_FUNCS]; /* in strings, 0 if unknown */
	bool func_known[MAX_FUNCS];
	uint32_t func_cnt;
	bool no_memory;
};

static bool grow(struct builder *b, void *at, uint32_t *cap, uint32_t need, size_t size)
{
	if (logged_grow((void **)at, cap, need, size))
		return true;
	b->no_memory = true;
	return false;
}

static uint32_t hash_string(const char *text, size_t len)
{
	uint32_t h = 2166136261u;

	for (size_t i = 0; i < len; i++)
		h = (h ^ (uint8_t)text[i]) * 16777619u;
	return h;
}

/* Where a string is in the table, or could be put. */
static uint32_t *string_place(struct builder *b, const char *text, size_t len)
{
	uint32_t at = hash_string(text, len) & (b->table_cap - 1);

	while (b->table[at] && (strlen(b->strings + b->table[at]) != len ||
				memcmp(b->strings + b->table[at], text, len) != 0))
		at = (at + 1) & (b->table_cap - 1);
	return &b->table[at];
}

static bool grow_table(struct builder *b)
{
	uint32_t *old = b->table, cap = b->table_cap;

	b->table_cap = cap ? cap * 2 : 256;
	b->table = calloc(b->table_cap, sizeof(*b->table));
	if (!b->table) {
		b->table = old;
		b->table_cap = cap;
		b->no_memory = true;
		return false;
	}
	for (uint32_t i = 0; i < cap; i++) {
		if (old[i])
			*string_place(b, b->strings + old[i], strlen(b->strings + old[i])) = old[i];
	}
	free(old);
	return true;
}

/* Offset of a string, each kept once: a source line is the same if its offsets are. */
static uint32_t add_string(struct builder *b, const char *text, size_t len)
{
	uint32_t at = b->strings_len, *place;

	if (!len || (b->string_cnt * 2 >= b->table_cap && !grow_table(b)))
		return 0;
	place = string_place(b, text, len);
	if (*place)
		return *place;
	if (len > UINT32_MAX / 4 ||
	    !grow(b, &b->strings, &b->strings_cap, at + (uint32_t)len + 1, 1))
		return 0;
	memcpy(b->strings + at, text, len);
	b->strings[at + len] = '\0';
	b->strings_len += (uint32_t)len + 1;
	b->string_cnt++;
	*place = at;
	return at;
}

/* --- names ----------------------------------------------------------------------------------- */

static uint32_t find_map(const struct loupe_image *image, const char *name, size_t len,
			 uint32_t key_size, uint32_t value_size)
{
	for (uint32_t i = 0; i < image->map_cnt; i++) {
		const struct loupe_map *map = &image->maps[i];

		if (strlen(map->name) == len && !memcmp(map->name, name, len) &&
		    map->key_size == key_size && map->value_size == value_size)
			return i;
	}
	return image->map_cnt;
}

static uint32_t look_map(void *ctx, const char *name, size_t len, uint32_t key_size,
			 uint32_t value_size)
{
	const struct loupe_logged *log = ctx;

	return find_map(log->image, name, len < 15 ? len : 15, key_size, value_size);
}

static uint32_t add_map(void *ctx, const char *name, size_t len, uint32_t key_size,
			uint32_t value_size)
{
	struct builder *b = ctx;
	struct loupe_map *map;
	uint32_t i;

	len = len < sizeof(map->name) - 1 ? len : sizeof(map->name) - 1;
	i = find_map(b->image, name, len, key_size, value_size);
	if (i < b->image->map_cnt || i >= MAX_MAPS ||
	    !grow(b, &b->image->maps, &b->map_cap, i + 1, sizeof(*map)))
		return i;
	map = &b->image->maps[i];
	memcpy(map->name, name, len);
	map->fd = (int32_t)i;
	map->key_size = key_size;
	map->value_size = value_size;
	map->inner_map_fd = -1;
	b->image->map_cnt++;
	return i;
}

static uint32_t find_type(const struct loupe_logged *log, const char *name, size_t len)
{
	uint32_t i = 0;

	while (i < log->type_cnt &&
	       (strlen(log->types[i]) != len || memcmp(log->types[i], name, len) != 0))
		i++;
	return i;
}

static uint32_t look_type(void *ctx, const char *name, size_t len)
{
	const struct loupe_logged *log = ctx;

	return log->first_type + find_type(log, name, len);
}

static uint32_t add_type(void *ctx, const char *name, size_t len)
{
	struct builder *b = ctx;
	struct loupe_logged *log = b->log;
	uint32_t i = find_type(log, name, len);

	if (i < log->type_cnt || i >= MAX_TYPES ||
	    !grow(b, &log->types, &log->type_cap, i + 1, sizeof(*log->types)))
		return i;
	log->types[i] = strndup(name, len);
	if (log->types[i])
		log->type_cnt++;
	else
		b->no_memory = true;
	return i;
}

struct scan_names logged_names(const struct loupe_logged *log)
{
	/* they only look */
	return (struct scan_names){ (void *)(uintptr_t)log, look_map, look_type };
}

/* --- instructions ---------------------------------------------------------------------------- */

static bool room_for_insn(struct builder *b, uint32_t n)
{
	struct loupe_image *image = b->image;

	if (n + 2 > MAX_INSNS ||
	    !grow(b, &image->insns, &b->insn_cap, n + 2, sizeof(*image->insns)) ||
	    !grow(b, &b->places, &b->place_cap, n + 2, sizeof(*b->places)))
		return false;
	if (image->insn_cnt <= n)
		image->insn_cnt = n + 1;
	return true;
}

/* Of "(bf) r1 = r2", or of "BUG_db". */
static uint8_t insn_code(const char *text)
{
	const char *last = strrchr(text, '_');
	const char *digits = *text == '(' || !last ? text + 1 : last + 1;
	char hex[3] = { 0 };

	memcpy(hex, digits, strnlen(digits, 2));
	return (uint8_t)strtoul(hex, NULL, 16);
}

static void add_insn(struct builder *b, uint32_t n, const char *text, size_t len)
{
	struct loupe_insn two[2] = { 0 };
	struct loupe_error err;
	char line[512];

	if (!room_for_insn(b, n) || b->image->insns[n].code)
		return;
	snprintf(line, sizeof(line), "%.*s", (int)(len < sizeof(line) ? len : sizeof(line) - 1),
		 text);
	if (loupe_asm_insn(line, two, &err) < 0 || two[0].code != insn_code(line))
		two[0] = (struct loupe_insn){ .code = insn_code(line) };
	b->image->insns[n] = two[0];
	if (two[0].code != (BPF_LD | BPF_IMM | BPF_DW))
		return;
	b->image->insns[n + 1] = two[1];
	if (b->image->insn_cnt <= n + 1)
		b->image->insn_cnt = n + 2;
}

/* What an ldimm64 loaded is told by the register after it. */
static void note_loaded(struct builder *b, uint32_t n, const struct scan_frame *frame)
{
	struct loupe_insn *insn = n < b->image->insn_cnt ? &b->image->insns[n] : NULL;

	if (!insn || insn->code != (BPF_LD | BPF_IMM | BPF_DW) || insn->src_reg ||
	    insn->dst_reg >= LOUPE_MAX_REG || !(frame->regs & 1u << insn->dst_reg))
		return;
	switch (loupe_base_type(frame->reg[insn->dst_reg].type)) {
	case CONST_PTR_TO_MAP:
		insn->src_reg = BPF_PSEUDO_MAP_FD;
		break;
	case PTR_TO_MAP_VALUE:
		insn->src_reg = BPF_PSEUDO_MAP_VALUE;
		break;
	case PTR_TO_FUNC:
		insn->src_reg = BPF_PSEUDO_FUNC;
		break;
	case PTR_TO_BTF_ID:
	case PTR_TO_MEM:
		insn->src_reg = BPF_PSEUDO_BTF_ID;
		break;
	default:
		return;
	}
	/* its address is no number of a map, and a function's distance is not shown */
	if (insn->src_reg == BPF_PSEUDO_MAP_FD || insn->src_reg == BPF_PSEUDO_MAP_VALUE) {
		insn->imm = (int32_t)loupe_reg_map(&frame->reg[insn->dst_reg]);
		insn[1].imm =
			insn->src_reg == BPF_PSEUDO_MAP_VALUE ? frame->reg[insn->dst_reg].off : 0;
	} else {
		insn->src_reg = 0;
	}
}

/* --- all items ------------------------------------------------------------------------------- */

static void note_func(struct builder *b, const struct scan_field *f, uint8_t kind)
{
	int64_t n = kind == FORM_VALIDATING ? f[1].number : f[0].number;

	if (n < 0 || n >= MAX_FUNCS)
		return;
	if (kind == FORM_SUBPROG) {
		if (f[1].number < 0 || f[1].number >= MAX_INSNS)
			return;
		b->func_start[n] = (uint32_t)f[1].number;
		b->func_known[n] = true;
		if (b->func_cnt <= (uint32_t)n)
			b->func_cnt = (uint32_t)n + 1;
	} else if (!b->func_name[n]) {
		b->func_name[n] = add_string(b, f[kind == FORM_VALIDATING ? 0 : 1].text,
					     f[kind == FORM_VALIDATING ? 0 : 1].len);
	}
}

/* The last source line shown. */
/* Of the insn that it names, or else *now: that of the steps to come. */
static void note_source(struct builder *b, const struct log_item *item, struct place *now)
{
	struct source_line source;
	struct place *place = now;

	if (!source_scan(b->log, item, &source))
		return;
	if (source.insn_idx >= 0) {
		if (source.insn_idx >= MAX_INSNS || !room_for_insn(b, (uint32_t)source.insn_idx))
			return;
		place = &b->places[source.insn_idx];
	}
	place->known = true;
	place->line = source.line > 0 && source.line < 1 << 22 ? (uint32_t)source.line : 0;
	place->text = add_string(b, source.text, source.text_len);
	place->file = add_string(b, source.file, source.file_len);
}

static void note_frame(struct builder *b, const struct scan_field *f, struct scan_frame *frame)
{
	const struct scan_names names = { b, add_map, add_type };

	frame_scan(f->text, f->len, &names, frame);
	if (frame->foreign)
		b->log->lacks |= LOUPE_LACKS_STATES;
}

/* Lines that tell of an arrival at an insn. */
static bool kind_names_insn(uint8_t kind, const struct scan_field *f, uint32_t *insn)
{
	bool second = kind == FORM_PATH_BEGIN || kind == FORM_PATH_SAFE;
	int64_t n = second ? f[1].number : f[0].number;

	if (!second && kind != FORM_SAFE && kind != FORM_STATE && kind != FORM_INFINITE_LOOP)
		return false;
	*insn = n >= 0 && n < MAX_INSNS ? (uint32_t)n : MAX_INSNS;
	return true;
}

static void note_item(struct builder *b, const struct log_item *item, struct scan_frame *frame,
		      struct place *now, uint32_t *step)
{
	struct scan_field f[FORM_MAX_FIELDS];
	struct live_row row;
	uint32_t named;

	if (item->kind == FORM_LIVE_REGS_INSN) {
		if (live_row_scan(b->log, item, &row))
			add_insn(b, row.insn_idx, row.insn, row.insn_len);
		return;
	}
	if (item->kind == FORM_SOURCE_PREFIX || item->kind == FORM_SOURCE_PREFIX_INSN) {
		note_source(b, item, now);
		return;
	}
	if (!item_scan(b->log, item, f))
		return;
	if (kind_names_insn(item->kind, f, &named))
		room_for_insn(b, named);
	switch (item->kind) {
	case FORM_SUBPROG:
	case FORM_VALIDATING:
	case FORM_FUNC_SAFE:
		note_func(b, f, item->kind);
		break;
	case FORM_STEP:
		if (f[0].number < 0 || f[0].number >= MAX_INSNS - 2)
			break;
		*step = (uint32_t)f[0].number;
		add_insn(b, *step, f[1].text, f[1].len);
		if (*step < b->place_cap && !b->places[*step].known)
			b->places[*step] = *now;
		break;
	case FORM_STATE_AFTER:
		note_frame(b, &f[0], frame);
		note_loaded(b, *step, frame);
		break;
	case FORM_STATE:
	case FORM_TO_CALLER:
		note_frame(b, &f[1], frame);
		note_loaded(b, *step, frame);
		break;
	case FORM_PATH_BEGIN:
		note_frame(b, &f[3], frame);
		break;
	case FORM_CALLER:
	case FORM_CALLEE:
	case FORM_RETURNING:
	case FORM_CUR_STATE:
	case FORM_OLD_STATE:
		note_frame(b, &f[0], frame);
		break;
	default:
		break;
	}
}

/* --- the program's BTF ----------------------------------------------------------------------- */

static bool make_btf(struct builder *b)
{
	struct loupe_image *image = b->image;
	struct loupe_logged *log = b->log;
	uint32_t funcs = 0, types_len;
	struct btf_header hdr = { .magic = BTF_MAGIC,
				  .version = BTF_VERSION,
				  .hdr_len = sizeof(hdr) };
	struct btf_type *type;

	/* func info goes by the function's number: one without a name has its place, too */
	while (funcs < b->func_cnt && b->func_known[funcs])
		funcs++;
	/* a prototype, the functions, the types that pointers name */
	types_len = (uint32_t)sizeof(*type) * (1 + funcs + log->type_cnt);
	log->first_type = 2 + funcs;
	for (uint32_t i = 0; i < log->type_cnt; i++)
		add_string(b, log->types[i], strlen(log->types[i]));
	if (b->no_memory)
		return false;
	image->btf_size = (uint32_t)sizeof(hdr) + types_len + b->strings_len;
	image->btf = calloc(1, image->btf_size);
	image->func_info = calloc(funcs + 1, sizeof(*image->func_info));
	if (!image->btf || !image->func_info)
		return false;
	hdr.type_len = types_len;
	hdr.str_off = types_len;
	hdr.str_len = b->strings_len;
	memcpy(image->btf, &hdr, sizeof(hdr));
	memcpy(image->btf + sizeof(hdr) + types_len, b->strings, b->strings_len);
	type = (struct btf_type *)(void *)(image->btf + sizeof(hdr));
	*type++ = (struct btf_type){ .info = BTF_KIND_FUNC_PROTO << 24 };
	for (uint32_t i = 0; i < funcs; i++) {
		image->func_info[i] = (struct loupe_func_info){ b->func_start[i], 2 + i };
		*type++ = (struct btf_type){ .name_off = b->func_name[i],
					     .info = BTF_KIND_FUNC << 24 | BTF_FUNC_GLOBAL,
					     .type = 1 };
	}
	image->func_info_cnt = funcs;
	for (uint32_t i = 0; i < log->type_cnt; i++)
		type[i] = (struct btf_type){
			.name_off = add_string(b, log->types[i], strlen(log->types[i])),
			.info = BTF_KIND_STRUCT << 24,
		};
	return true;
}

static bool same_place(const struct builder *b, const struct place *x, const struct place *y)
{
	return x->known == y->known && x->line == y->line &&
	       !strcmp(b->strings + x->file, b->strings + y->file) &&
	       !strcmp(b->strings + x->text, b->strings + y->text);
}

/* A row where the line changes; insns that were not walked end the line before them. */
static bool make_lines(struct builder *b)
{
	struct loupe_image *image = b->image;
	struct place last = { 0 };

	image->line_info = calloc(image->insn_cnt + 1, sizeof(*image->line_info));
	if (!image->line_info)
		return false;
	for (uint32_t i = 0; i < image->insn_cnt; i++) {
		const struct place *p = &b->places[i];

		if (i && image->insns[i - 1].code == (BPF_LD | BPF_IMM | BPF_DW))
			continue;
		if (same_place(b, p, &last))
			continue;
		image->line_info[image->line_info_cnt++] = (struct loupe_line_info){
			.insn_off = i,
			.file_name_off = p->file,
			.line_off = p->text,
			.line_col = p->line << 10,
		};
		last = *p;
	}
	return true;
}

int logged_make_image(struct loupe_logged *log, const char *path, const char *name)
{
	struct loupe_image *image = loupe_image_create();
	struct builder b = { .log = log, .image = image };
	struct scan_frame *frame = calloc(1, sizeof(*frame));
	struct place now = { 0 };
	uint32_t step = UINT32_MAX;

	log->image = image;
	if (!image || !frame || !grow(&b, &b.strings, &b.strings_cap, 1, 1)) {
		b.no_memory = true;
		goto out;
	}
	b.strings_len = 1;
	image->from_log = true;
	image->file = strdup(path);
	image->name = strdup(name ? name : "log");
	image->license = strdup("");
	if (!image->file || !image->name || !image->license)
		b.no_memory = true;
	if (name) {
		b.func_name[0] = add_string(&b, name, strlen(name));
		snprintf(image->prog_name, sizeof(image->prog_name), "%s", name);
	}
	/* without the table of functions, the main one is known to be first */
	b.func_known[0] = true;
	b.func_cnt = 1;
	for (uint32_t i = 0; i < log->item_cnt && !b.no_memory; i++)
		note_item(&b, &log->items[i], frame, &now, &step);
	if (b.no_memory || !make_lines(&b) || !make_btf(&b))
		b.no_memory = true;
out:
	free(frame);
	free(b.places);
	free(b.strings);
	free(b.table);
	return b.no_memory ? -ENOMEM : 0;
}
