// SPDX-License-Identifier: GPL-2.0-only
/* Directives of assembler text, one row each. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "bpfloupe/insn.h"
#include "insn/asm_unit.h"
#include "insn/opcodes.h"

#define MAPS_MAX 4096

/* Takes a number, or a word that by_name knows. */
static int named_number(struct asm_scan *scan, const char *what, int (*by_name)(const char *),
			uint32_t *value)
{
	struct asm_word word;
	char name[64];
	int found = -ENOENT;

	if (asm_at_number(scan))
		return asm_u32(scan, what, value);
	if (!asm_take_word(scan, &word))
		return asm_fail(scan, scan->p, "%s is missing", what);
	if (asm_word_copy(&word, name, sizeof(name)))
		found = by_name(name);
	if (found < 0)
		return asm_fail(
			scan, word.p,
			"unknown %s '%.*s': use the kernel's name in lower case, or a number", what,
			(int)word.len, word.p);
	*value = (uint32_t)found;
	return 0;
}

static int do_type(struct asm_unit *unit, struct asm_scan *scan)
{
	unit->has_type = true;
	return named_number(scan, "program type", loupe_prog_type_by_name, &unit->image->prog_type);
}

static int do_attach(struct asm_unit *unit, struct asm_scan *scan)
{
	return named_number(scan, "attach type", loupe_attach_type_by_name,
			    &unit->image->expected_attach_type);
}

static int do_attach_btf_id(struct asm_unit *unit, struct asm_scan *scan)
{
	if (asm_u32(scan, "the BTF id", &unit->image->attach_btf_id))
		return -EINVAL;
	unit->image->attach_unset = false;
	if (asm_take(scan, "fd"))
		return asm_imm32(scan, "the BTF's fd", &unit->image->attach_btf_fd);
	return 0;
}

/* The target is looked up by name when the text is loaded, unless .attach_btf_id says its
 * number. */
static int do_attach_target(struct asm_unit *unit, struct asm_scan *scan)
{
	struct loupe_image *image = unit->image;
	struct asm_word word;
	char *name = NULL;
	int ret = 0;

	asm_space(scan);
	if (*scan->p == '"')
		ret = asm_string(scan, "the attach target's name", &name);
	else if (!asm_take_word(scan, &word))
		ret = asm_fail(scan, scan->p, "the attach target's name is missing");
	else
		ret = (name = strndup(word.p, word.len)) ? 0 : -ENOMEM;
	if (ret)
		return ret;
	free(image->attach_target);
	image->attach_target = name;
	image->attach_unset = !image->attach_btf_id && !image->attach_btf_fd;
	return 0;
}

static int do_flags(struct asm_unit *unit, struct asm_scan *scan)
{
	static const struct {
		const char *word;
		uint32_t flag;
	} flags[] = {
		{ "strict_alignment", BPF_F_STRICT_ALIGNMENT },
		{ "any_alignment", BPF_F_ANY_ALIGNMENT },
		{ "test_rnd_hi32", BPF_F_TEST_RND_HI32 },
		{ "test_state_freq", BPF_F_TEST_STATE_FREQ },
		{ "sleepable", BPF_F_SLEEPABLE },
		{ "xdp_has_frags", BPF_F_XDP_HAS_FRAGS },
		{ "xdp_dev_bound_only", BPF_F_XDP_DEV_BOUND_ONLY },
		{ "test_reg_invariants", BPF_F_TEST_REG_INVARIANTS },
	};
	struct asm_word word;
	uint32_t value;

	unit->image->prog_flags = 0;
	while (!asm_at_end(scan)) {
		size_t i, cnt = sizeof(flags) / sizeof(flags[0]);

		if (asm_at_number(scan)) {
			if (asm_u32(scan, "the flags", &value))
				return -EINVAL;
			unit->image->prog_flags |= value;
			continue;
		}
		if (!asm_take_word(scan, &word))
			return asm_fail(scan, scan->p, "expected flags here: words or a number");
		for (i = 0; i < cnt && !asm_word_is(&word, flags[i].word); i++)
			;
		if (i == cnt)
			return asm_fail(
				scan, word.p,
				"unknown flag '%.*s': there are strict_alignment, any_alignment, "
				"test_rnd_hi32, test_state_freq, sleepable, xdp_has_frags, "
				"xdp_dev_bound_only, test_reg_invariants, and numbers",
				(int)word.len, word.p);
		unit->image->prog_flags |= flags[i].flag;
	}
	return 0;
}

/* A text in quotes in place of *to. */
static int replace_string(struct asm_scan *scan, const char *what, char **to)
{
	char *text;
	int ret = asm_string(scan, what, &text);

	if (ret)
		return ret;
	free(*to);
	*to = text;
	return 0;
}

static int do_license(struct asm_unit *unit, struct asm_scan *scan)
{
	unit->has_license = true;
	if (asm_take(scan, "none")) {
		free(unit->image->license);
		unit->image->license = NULL;
		return 0;
	}
	return replace_string(scan, "the licence", &unit->image->license);
}

static int do_section(struct asm_unit *unit, struct asm_scan *scan)
{
	return replace_string(scan, "the section's name", &unit->image->section);
}

/* A name of at most 15 characters, a word or in quotes. */
static int short_name(struct asm_scan *scan, const char *what, char name[16])
{
	const char *start;
	char *text = NULL;
	struct asm_word word;
	int ret = 0;

	asm_space(scan);
	start = scan->p;
	if (*start == '"') {
		ret = asm_string(scan, what, &text);
		if (ret)
			return ret;
		word = (struct asm_word){ text, strlen(text) };
	} else if (!asm_take_word(scan, &word)) {
		return asm_fail(scan, start, "%s is missing", what);
	}
	memset(name, 0, 16);
	if (!asm_word_copy(&word, name, 16))
		ret = asm_fail(
			scan, start,
			"%s is longer than 15 characters, which is all that the kernel keeps",
			what);
	free(text);
	return ret;
}

static int do_name(struct asm_unit *unit, struct asm_scan *scan)
{
	return short_name(scan, "the program's name", unit->image->prog_name);
}

static int do_kern_version(struct asm_unit *unit, struct asm_scan *scan)
{
	return asm_u32(scan, "the kernel version", &unit->image->kern_version);
}

static int do_ifindex(struct asm_unit *unit, struct asm_scan *scan)
{
	return asm_u32(scan, "the interface index", &unit->image->prog_ifindex);
}

static int do_fd_array(struct asm_unit *unit, struct asm_scan *scan)
{
	struct loupe_image *image = unit->image;
	int32_t fd;

	do {
		if (asm_imm32(scan, "the fd", &fd))
			return -EINVAL;
		if (asm_grow((void **)&image->fd_array, image->fd_array_cnt, &unit->fd_cap,
			     sizeof(fd)))
			return -ENOMEM;
		image->fd_array[image->fd_array_cnt++] = fd;
	} while (!asm_at_end(scan));
	return 0;
}

/* The map that a word or quoted name stands for. */
static int find_map(const struct asm_unit *unit, struct asm_scan *scan, struct loupe_map **map)
{
	char name[16];
	struct asm_word word = { name, 0 };
	int found, ret;

	asm_space(scan);
	word.p = scan->p;
	ret = short_name(scan, "the map's name", name);
	if (ret)
		return ret;
	found = asm_unit_map(unit, &(struct asm_word){ name, strlen(name) });
	if (found < 0)
		return asm_fail(scan, word.p, "%s: it must be declared by .map above",
				found == -EEXIST ? "several maps have this name"
						 : "no map has this name");
	*map = &unit->image->maps[found];
	return 0;
}

/* "inner=NAME" or "inner=fd:N". */
static int inner_map(struct asm_unit *unit, struct asm_scan *scan, struct loupe_map *map)
{
	struct loupe_map *inner;
	int ret;

	if (strncmp(scan->p, "fd:", 3) == 0) {
		scan->p += 3;
		return asm_imm32(scan, "the inner map's fd", &map->inner_map_fd);
	}
	ret = find_map(unit, scan, &inner);
	if (!ret)
		map->inner_map_fd = inner->fd;
	return ret;
}

/* One "key=value" of a map. */
static int map_attribute(struct asm_unit *unit, struct asm_scan *scan, struct loupe_map *map)
{
	const struct {
		const char *word;
		uint32_t *value;
	} numbers[] = {
		{ "key", &map->key_size },
		{ "value", &map->value_size },
		{ "entries", &map->max_entries },
		{ "flags", &map->map_flags },
		{ "numa", &map->numa_node },
		{ "btf_key", &map->btf_key_type_id },
		{ "btf_value", &map->btf_value_type_id },
		{ "btf_vmlinux_value", &map->btf_vmlinux_value_type_id },
	};
	struct asm_word word;

	if (!asm_take_word(scan, &word))
		return asm_fail(scan, scan->p, "expected type=, key=, value=, entries= ... here");
	if (asm_word_is(&word, "frozen")) {
		map->frozen = true;
		return 0;
	}
	if (*scan->p++ != '=') {
		scan->p--;
		return asm_fail(scan, scan->p, "expected '=' directly behind '%.*s'", (int)word.len,
				word.p);
	}
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		if (asm_word_is(&word, numbers[i].word))
			return asm_u32(scan, numbers[i].word, numbers[i].value);
	}
	if (asm_word_is(&word, "type"))
		return named_number(scan, "map type", loupe_map_type_by_name, &map->type);
	if (asm_word_is(&word, "fd"))
		return asm_imm32(scan, "fd", &map->fd);
	if (asm_word_is(&word, "extra"))
		return asm_number(scan, "extra", 0, UINT64_MAX, &map->map_extra);
	if (asm_word_is(&word, "inner"))
		return inner_map(unit, scan, map);
	if (asm_word_is(&word, "data"))
		return asm_hex(scan, &map->data, &map->data_len);
	return asm_fail(scan, word.p,
			"a map has no '%.*s': there are fd type key value entries flags extra "
			"inner numa btf_key btf_value btf_vmlinux_value frozen data",
			(int)word.len, word.p);
}

static int do_map(struct asm_unit *unit, struct asm_scan *scan)
{
	struct loupe_image *image = unit->image;
	struct loupe_map map = { .fd = 1, .inner_map_fd = -1 };
	const char *start;
	int ret;

	asm_space(scan);
	start = scan->p;
	if (image->map_cnt >= MAPS_MAX)
		return asm_fail(scan, start, "more than %d maps", MAPS_MAX);
	ret = short_name(scan, "the map's name", map.name);
	for (uint32_t i = 0; i < image->map_cnt; i++) {
		if (map.fd <= image->maps[i].fd && image->maps[i].fd < INT32_MAX)
			map.fd = image->maps[i].fd + 1;
	}
	while (!ret && !asm_at_end(scan))
		ret = map_attribute(unit, scan, &map);
	if (!ret && loupe_image_map_by_fd(image, map.fd) >= 0)
		ret = asm_fail(scan, start,
			       "another map has fd %d: give each its own by fd=", map.fd);
	if (!ret && asm_grow((void **)&image->maps, image->map_cnt, &unit->map_cap, sizeof(map)))
		ret = -ENOMEM;
	if (ret) {
		free(map.data);
		return ret;
	}
	image->maps[image->map_cnt++] = map;
	return 0;
}

static int hex_words(struct asm_scan *scan, uint8_t **data, uint32_t *len)
{
	int ret;

	do
		ret = asm_hex(scan, data, len);
	while (!ret && !asm_at_end(scan));
	return ret;
}

static int do_data(struct asm_unit *unit, struct asm_scan *scan)
{
	struct loupe_map *map;
	int ret, found;
	uint64_t fd;

	asm_space(scan);
	if (strncmp(scan->p, "fd:", 3) == 0) {
		scan->p += 3;
		if (asm_number(scan, "the map's fd", INT32_MIN, INT32_MAX, &fd))
			return -EINVAL;
		found = loupe_image_map_by_fd(unit->image, (int32_t)fd);
		if (found < 0)
			return asm_fail(scan, scan->p,
					"no map has this fd: it must be declared by .map above");
		map = &unit->image->maps[found];
	} else {
		ret = find_map(unit, scan, &map);
		if (ret)
			return ret;
	}
	return hex_words(scan, &map->data, &map->data_len);
}

static int do_btf(struct asm_unit *unit, struct asm_scan *scan)
{
	if (unit->btf.strs_len)
		return asm_fail(scan, scan->p, ".btf cannot be mixed with .decl, .func and .line");
	unit->raw_btf = true;
	return hex_words(scan, &unit->image->btf, &unit->image->btf_size);
}

static int add_func_info(struct asm_unit *unit, uint32_t insn, uint32_t type)
{
	struct loupe_image *image = unit->image;

	if (asm_grow((void **)&image->func_info, image->func_info_cnt, &unit->func_cap,
		     sizeof(*image->func_info)))
		return -ENOMEM;
	image->func_info[image->func_info_cnt++] = (struct loupe_func_info){ insn, type };
	return 0;
}

static int add_line_info(struct asm_unit *unit, const struct loupe_line_info *line)
{
	struct loupe_image *image = unit->image;

	if (asm_grow((void **)&image->line_info, image->line_info_cnt, &unit->line_cap,
		     sizeof(*line)))
		return -ENOMEM;
	image->line_info[image->line_info_cnt++] = *line;
	return 0;
}

static int do_func_info(struct asm_unit *unit, struct asm_scan *scan)
{
	uint32_t insn, type;

	if (asm_u32(scan, "the instruction's number", &insn) || asm_u32(scan, "the type id", &type))
		return -EINVAL;
	return add_func_info(unit, insn, type);
}

static int do_line_info(struct asm_unit *unit, struct asm_scan *scan)
{
	struct loupe_line_info line;

	if (asm_u32(scan, "the instruction's number", &line.insn_off) ||
	    asm_u32(scan, "the file name's offset", &line.file_name_off) ||
	    asm_u32(scan, "the text's offset", &line.line_off) ||
	    asm_u32(scan, "line << 10 | column", &line.line_col))
		return -EINVAL;
	return add_line_info(unit, &line);
}

/* Scans C in quotes; without escapes in it, columns in errors are those of the line. */
static int quoted_c(struct asm_unit *unit, struct asm_scan *scan, const char *what,
		    struct asm_scan *inside, char **text)
{
	const char *start;
	int ret;

	if (unit->raw_btf)
		return asm_fail(scan, scan->p, "this cannot be mixed with .btf");
	asm_space(scan);
	start = scan->p;
	ret = asm_string(scan, what, text);
	if (ret)
		return ret;
	*inside = *scan;
	inside->line = inside->p = *text;
	inside->column = (uint32_t)(start + 1 - scan->line);
	return 0;
}

static int do_decl(struct asm_unit *unit, struct asm_scan *scan)
{
	struct asm_scan inside;
	char *text;
	int ret = quoted_c(unit, scan, "the declaration", &inside, &text);

	if (ret)
		return ret;
	ret = asm_btf_decl(&unit->btf, &inside);
	free(text);
	return ret;
}

static int do_func(struct asm_unit *unit, struct asm_scan *scan)
{
	uint32_t linkage = 1, id;
	struct asm_scan inside;
	struct asm_word name;
	const char *start;
	char *text;
	int ret;

	asm_space(scan);
	start = scan->p;
	ret = quoted_c(unit, scan, "the prototype", &inside, &text);
	if (ret)
		return ret;
	if (asm_take(scan, "static"))
		linkage = 0;
	else
		asm_take(scan, "global");
	ret = asm_btf_func(&unit->btf, &inside, linkage, &id, &name);
	if (!ret)
		ret = add_func_info(unit, unit->image->insn_cnt, id);
	if (!ret) {
		/* Labels live as long as the line, so the name is the one in the line. */
		struct asm_word in_line = { start + 1 + (name.p - text), name.len };

		if (strncmp(in_line.p, name.p, name.len) != 0)
			ret = asm_fail(scan, start, "a prototype holds no escapes");
		else
			ret = asm_unit_label(unit, scan, &in_line);
	}
	free(text);
	return ret;
}

static int do_line(struct asm_unit *unit, struct asm_scan *scan)
{
	struct loupe_line_info line = { .insn_off = unit->image->insn_cnt };
	uint64_t number, column = 0;
	char *text = NULL;
	int ret = 0;

	if (unit->raw_btf)
		return asm_fail(scan, scan->p, "this cannot be mixed with .btf: use .line_info");
	if (asm_number(scan, "the line", 0, UINT32_MAX >> 10, &number))
		return -EINVAL;
	if (*scan->p == ':') {
		scan->p++;
		if (asm_number(scan, "the column", 0, 1023, &column))
			return -EINVAL;
	}
	line.line_col = (uint32_t)(number << 10 | column);
	if (!unit->line_file || !asm_at_end(scan)) {
		ret = asm_string(scan, "the file's name", &text);
		if (ret)
			return ret;
		if (!unit->line_file || strcmp(unit->btf.strs + unit->line_file, text) != 0)
			ret = asm_btf_string(&unit->btf, text, strlen(text), &unit->line_file);
		free(text);
		text = NULL;
	}
	line.file_name_off = unit->line_file;
	if (!ret && !asm_at_end(scan))
		ret = asm_string(scan, "the line's text", &text);
	if (!ret)
		ret = asm_btf_string(&unit->btf, text ? text : "", text ? strlen(text) : 0,
				     &line.line_off);
	free(text);
	return ret ? ret : add_line_info(unit, &line);
}

static const struct directive {
	const char *name;
	int (*run)(struct asm_unit *unit, struct asm_scan *scan);
	bool of_program; /* speaks of one program's instructions */
} directives[] = {
	{ ".attach", do_attach, false },
	{ ".attach_btf_id", do_attach_btf_id, false },
	{ ".attach_target", do_attach_target, false },
	{ ".btf", do_btf, false },
	{ ".data", do_data, false },
	{ ".decl", do_decl, false },
	{ ".fd_array", do_fd_array, false },
	{ ".flags", do_flags, false },
	{ ".func", do_func, true },
	{ ".func_info", do_func_info, true },
	{ ".ifindex", do_ifindex, false },
	{ ".kern_version", do_kern_version, false },
	{ ".license", do_license, false },
	{ ".line", do_line, true },
	{ ".line_info", do_line_info, true },
	{ ".map", do_map, false },
	{ ".name", do_name, true },
	{ ".section", do_section, false },
	{ ".type", do_type, false },
};

static const struct directive *find_directive(const struct asm_word *name)
{
	for (size_t i = 0; i < sizeof(directives) / sizeof(directives[0]); i++) {
		if (asm_word_is(name, directives[i].name))
			return &directives[i];
	}
	return NULL;
}

bool asm_directive_is_of_program(const struct asm_word *name)
{
	const struct directive *directive = find_directive(name);

	return directive && directive->of_program;
}

int asm_directive(struct asm_unit *unit, struct asm_scan *scan, const struct asm_word *name)
{
	const struct directive *directive = find_directive(name);
	int ret;

	if (!directive)
		return asm_fail(scan, name->p,
				"unknown directive '%.*s': see bpfloupe/asm.h for the list",
				(int)name->len, name->p);
	ret = directive->run(unit, scan);
	return ret ? ret : asm_expect_end(scan);
}
