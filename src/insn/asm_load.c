// SPDX-License-Identifier: GPL-2.0-only
/* Assembler text as a whole: lines, labels, and programs one after another. */
#include "bpfloupe/asm.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "bpfloupe/insn.h"
#include "insn/asm_unit.h"
#include "insn/opcodes.h"

/* What the directives in front of the first .prog hold is copied for each: at most so many bytes.
 */
#define COPY_MAX (256u << 20)

struct assembler {
	struct asm_scan scan;
	char *text; /* copy; words point into it */
	struct asm_unit common;
	struct asm_unit prog;
	bool in_prog;
	struct loupe_program_list list;
	uint32_t list_cap;
	uint64_t copied;
};

int asm_grow(void **vector, uint32_t cnt, uint32_t *cap, size_t size)
{
	uint32_t wanted = *cap ? *cap * 2 : 8;
	void *grown;

	if (cnt < *cap)
		return 0;
	if (wanted < *cap)
		return -ENOMEM;
	grown = reallocarray(*vector, wanted, size);
	if (!grown)
		return -ENOMEM;
	*vector = grown;
	*cap = wanted;
	return 0;
}

static void unit_finish(struct asm_unit *unit)
{
	loupe_image_destroy(unit->image);
	free(unit->labels);
	free(unit->fixups);
	asm_btf_finish(&unit->btf);
	*unit = (struct asm_unit){ 0 };
}

static int copy_text(char **to, const char *from)
{
	*to = from ? strdup(from) : NULL;
	return from && !*to ? -ENOMEM : 0;
}

static int copy_bytes(void **to, const void *from, size_t cnt, size_t size)
{
	*to = NULL;
	if (cnt == 0)
		return 0;
	*to = reallocarray(NULL, cnt, size);
	if (!*to)
		return -ENOMEM;
	memcpy(*to, from, cnt * size);
	return 0;
}

/* Makes to a program that starts with what common has. */
static int unit_start(struct asm_unit *to, const struct asm_unit *common)
{
	const struct loupe_image *from = common->image;
	struct loupe_image *image = loupe_image_create();

	if (!image)
		return -ENOMEM;
	*to = (struct asm_unit){
		.image = image,
		.has_type = common->has_type,
		.has_license = common->has_license,
		.raw_btf = common->raw_btf,
	};
	image->prog_type = from->prog_type;
	image->expected_attach_type = from->expected_attach_type;
	image->attach_btf_id = from->attach_btf_id;
	image->attach_btf_fd = from->attach_btf_fd;
	image->attach_unset = from->attach_unset;
	image->prog_flags = from->prog_flags;
	image->kern_version = from->kern_version;
	image->prog_ifindex = from->prog_ifindex;
	if (copy_text(&image->license, from->license) ||
	    copy_text(&image->section, from->section) ||
	    copy_text(&image->attach_target, from->attach_target) ||
	    copy_bytes((void **)&image->btf, from->btf, from->btf_size, 1) ||
	    copy_bytes((void **)&image->fd_array, from->fd_array, from->fd_array_cnt,
		       sizeof(*from->fd_array)) ||
	    copy_bytes((void **)&image->maps, from->maps, from->map_cnt, sizeof(*from->maps)) ||
	    asm_btf_copy(&to->btf, &common->btf))
		return -ENOMEM;
	image->btf_size = from->btf_size;
	image->fd_array_cnt = to->fd_cap = from->fd_array_cnt;
	to->map_cap = from->map_cnt;
	for (uint32_t i = 0; i < from->map_cnt; i++) {
		image->maps[i].data = NULL;
		image->map_cnt = i + 1;
		if (copy_bytes((void **)&image->maps[i].data, from->maps[i].data,
			       from->maps[i].data_len, 1))
			return -ENOMEM;
	}
	return 0;
}

/* About as much as unit_start() copies. */
static uint64_t unit_bytes(const struct asm_unit *unit)
{
	const struct loupe_image *image = unit->image;
	uint64_t bytes = sizeof(*image) + image->btf_size + unit->btf.strs_len;

	for (uint32_t i = 0; i < unit->btf.type_cnt; i++)
		bytes += sizeof(unit->btf.types[i]) + unit->btf.types[i].extra_len;
	bytes += (uint64_t)image->fd_array_cnt * sizeof(*image->fd_array);
	for (uint32_t i = 0; i < image->map_cnt; i++)
		bytes += sizeof(image->maps[i]) + image->maps[i].data_len;
	return bytes;
}

int asm_unit_insn(struct asm_unit *unit, const struct loupe_insn *insn)
{
	struct loupe_image *image = unit->image;

	if (asm_grow((void **)&image->insns, image->insn_cnt, &unit->insn_cap, sizeof(*insn)))
		return -ENOMEM;
	image->insns[image->insn_cnt++] = *insn;
	return 0;
}

int asm_unit_label(struct asm_unit *unit, const struct asm_scan *scan, const struct asm_word *name)
{
	char text[64];

	if (asm_word_copy(name, text, sizeof(text)) && loupe_helper_by_name(text) >= 0)
		return asm_fail(scan, name->p, "'%s' is a helper's name: give the label another",
				text);
	if (asm_grow((void **)&unit->labels, unit->label_cnt, &unit->label_cap,
		     sizeof(*unit->labels)))
		return -ENOMEM;
	unit->labels[unit->label_cnt++] = (struct asm_label){
		.name = *name,
		.insn = unit->image->insn_cnt,
		.at = scan->p,
		.line = scan->line,
		.lineno = scan->lineno,
	};
	return 0;
}

static int compare_names(const struct asm_word *a, const struct asm_word *b)
{
	if (a->len != b->len)
		return a->len < b->len ? -1 : 1;
	return memcmp(a->p, b->p, a->len);
}

static int compare_labels(const void *one, const void *two)
{
	const struct asm_label *a = one, *b = two;
	int order = compare_names(&a->name, &b->name);

	return order ? order : a->lineno < b->lineno ? -1 : a->lineno > b->lineno;
}

static int compare_name_to_label(const void *name, const void *label)
{
	return compare_names(name, &((const struct asm_label *)label)->name);
}

/* Puts the labels in order. One that stands in two places is an error. */
static int sort_labels(struct asm_unit *unit, const char *path, struct loupe_error *err)
{
	if (unit->label_cnt)
		qsort(unit->labels, unit->label_cnt, sizeof(*unit->labels), compare_labels);
	for (uint32_t i = 1; i < unit->label_cnt; i++) {
		const struct asm_label *label = &unit->labels[i];
		struct asm_scan scan = {
			.path = path,
			.lineno = label->lineno,
			.line = label->line,
			.p = label->line,
			.err = err,
		};

		if (label->insn != label[-1].insn && !compare_names(&label->name, &label[-1].name))
			return asm_fail(&scan, label->at,
					"label '%.*s' stands in line %u too: rename one",
					(int)label->name.len, label->name.p, label[-1].lineno);
	}
	return 0;
}

static const struct asm_label *find_label(const struct asm_unit *unit, const struct asm_word *name)
{
	if (!unit->label_cnt)
		return NULL;
	return bsearch(name, unit->labels, unit->label_cnt, sizeof(*unit->labels),
		       compare_name_to_label);
}

int asm_unit_map(const struct asm_unit *unit, const struct asm_word *name)
{
	int found = -ENOENT;

	for (uint32_t i = 0; i < unit->image->map_cnt; i++) {
		if (!asm_word_is(name, unit->image->maps[i].name))
			continue;
		if (found >= 0)
			return -EEXIST;
		found = (int)i;
	}
	return found;
}

static int fix_map(const struct asm_unit *unit, const struct asm_scan *scan,
		   const struct asm_fixup *fixup)
{
	int map = asm_unit_map(unit, &fixup->name);

	if (map == -EEXIST)
		return asm_fail(scan, fixup->name.p,
				"several maps are called '%.*s': write map[fd N]",
				(int)fixup->name.len, fixup->name.p);
	if (map < 0)
		return asm_fail(scan, fixup->name.p, "no map '%.*s': declare it with .map",
				(int)fixup->name.len, fixup->name.p);
	unit->image->insns[fixup->insn].imm = unit->image->maps[map].fd;
	return 0;
}

static int fix_jump(const struct asm_unit *unit, const struct asm_scan *scan,
		    const struct asm_fixup *fixup)
{
	const struct asm_label *label = find_label(unit, &fixup->name);
	struct loupe_insn *insn = &unit->image->insns[fixup->insn];
	int64_t distance;

	if (!label)
		return asm_fail(scan, fixup->name.p, "no label '%.*s' in this program",
				(int)fixup->name.len, fixup->name.p);
	distance = (int64_t)label->insn - fixup->insn - 1;
	if (fixup->kind == ASM_REF_JUMP16) {
		if (distance < INT16_MIN || distance > INT16_MAX)
			return asm_fail(scan, fixup->name.p,
					"'%.*s' is %lld instructions away, more than 16 bits hold: "
					"go there by gotol",
					(int)fixup->name.len, fixup->name.p, (long long)distance);
		insn->off = (int16_t)distance;
	} else {
		insn->imm = (int32_t)distance;
	}
	return 0;
}

/* The file's name without directories and suffix, for a program that has none. */
static char *name_of_file(const char *path)
{
	const char *base = path && strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
	const char *dot = base ? strchr(base, '.') : NULL;

	if (!base || !*base || dot == base)
		return strdup("prog");
	return dot ? strndup(base, (size_t)(dot - base)) : strdup(base);
}

/* Ends the program under assembly and puts it on the list. */
static int finish_program(struct assembler *as)
{
	struct asm_unit *unit = &as->prog;
	struct loupe_image *image = unit->image;
	struct loupe_program *prog;
	int ret;

	if (!as->in_prog)
		return 0;
	ret = sort_labels(unit, as->scan.path, as->scan.err);
	if (ret)
		return ret;
	for (uint32_t i = 0; i < unit->fixup_cnt; i++) {
		const struct asm_fixup *fixup = &unit->fixups[i];
		struct asm_scan scan = {
			.path = as->scan.path,
			.lineno = fixup->lineno,
			.line = fixup->line,
			.p = fixup->line,
			.err = as->scan.err,
		};

		ret = fixup->kind == ASM_REF_MAP ? fix_map(unit, &scan, fixup)
						 : fix_jump(unit, &scan, fixup);
		if (ret)
			return ret;
	}
	if (!unit->has_type)
		return asm_fail(&as->scan, NULL,
				"program '%s' has no type: add a line such as '.type xdp'",
				image->name);
	if (!unit->raw_btf && asm_btf_emit(&unit->btf, &image->btf, &image->btf_size))
		return -ENOMEM;
	if (!unit->has_license && copy_text(&image->license, "GPL"))
		return -ENOMEM;
	if (copy_text(&image->file, as->scan.path) || copy_text(&image->host.loader, "assembler"))
		return -ENOMEM;
	if (asm_grow((void **)&as->list.progs, as->list.cnt, &as->list_cap, sizeof(*prog)))
		return -ENOMEM;
	prog = &as->list.progs[as->list.cnt++];
	*prog = (struct loupe_program){ .image = image };
	unit->image = NULL;
	unit_finish(unit);
	as->in_prog = false;
	return copy_text(&prog->name, image->name) || copy_text(&prog->section, image->section)
		       ? -ENOMEM
		       : 0;
}

/* Starts a program; name is taken over. */
static int start_program(struct assembler *as, char *name)
{
	int ret = name ? finish_program(as) : -ENOMEM;

	if (ret) {
		free(name);
		return ret;
	}
	as->copied += unit_bytes(&as->common);
	if (as->copied > COPY_MAX) {
		free(name);
		return asm_fail(&as->scan, NULL,
				"too many programs for so much in front of the first .prog");
	}
	ret = unit_start(&as->prog, &as->common);
	if (ret) {
		free(name);
		return ret;
	}
	as->in_prog = true;
	as->prog.image->name = name;
	strncpy(as->prog.image->prog_name, name, sizeof(as->prog.image->prog_name) - 1);
	return 0;
}

/* The name of the .prog directive, a word or in quotes. */
static int parse_prog(struct assembler *as)
{
	struct asm_scan *scan = &as->scan;
	struct asm_word word;
	char *name = NULL;
	int ret = 0;

	asm_space(scan);
	if (*scan->p == '"') {
		ret = asm_string(scan, "the program's name", &name);
	} else if (asm_take_word(scan, &word)) {
		name = strndup(word.p, word.len);
		ret = name ? 0 : -ENOMEM;
	} else {
		ret = asm_fail(scan, scan->p, "the program's name is missing: write .prog NAME");
	}
	if (!ret)
		ret = asm_expect_end(scan);
	if (ret) {
		free(name);
		return ret;
	}
	return start_program(as, name);
}

/* Makes sure that there is a program for an instruction or label to be in. */
static int need_program(struct assembler *as)
{
	return as->in_prog ? 0 : start_program(as, name_of_file(as->scan.path));
}

/* ".insn CODE DST SRC OFF IMM": one slot as it is; ".insn" was taken. */
static int parse_raw_insn(struct assembler *as)
{
	struct asm_scan *scan = &as->scan;
	struct loupe_insn insn = { 0 };
	uint64_t code, dst, src, off;

	if (asm_number(scan, "the opcode", 0, UINT8_MAX, &code) ||
	    asm_number(scan, "the destination register", 0, 15, &dst) ||
	    asm_number(scan, "the source register", 0, 15, &src) ||
	    asm_number(scan, "the offset", INT16_MIN, INT16_MAX, &off) ||
	    asm_imm32(scan, "the immediate", &insn.imm) || asm_expect_end(scan))
		return -EINVAL;
	insn.code = (uint8_t)code;
	insn.dst_reg = (unsigned int)dst & 0xfu;
	insn.src_reg = (unsigned int)src & 0xfu;
	insn.off = (int16_t)off;
	return asm_unit_insn(&as->prog, &insn);
}

static int parse_insn(struct assembler *as)
{
	struct asm_unit *unit = &as->prog;
	struct asm_insn parsed;
	int ret;

	ret = asm_insn_parse(&as->scan, &parsed);
	if (ret)
		return ret;
	if (parsed.ref != ASM_REF_NONE) {
		if (asm_grow((void **)&unit->fixups, unit->fixup_cnt, &unit->fixup_cap,
			     sizeof(*unit->fixups)))
			return -ENOMEM;
		unit->fixups[unit->fixup_cnt++] = (struct asm_fixup){
			.kind = parsed.ref,
			.insn = unit->image->insn_cnt,
			.name = parsed.name,
			.line = as->scan.line,
			.lineno = as->scan.lineno,
		};
	}
	for (unsigned int i = 0; i < parsed.slots; i++) {
		ret = asm_unit_insn(unit, &parsed.insn[i]);
		if (ret)
			return ret;
	}
	return 0;
}

/* Takes "NAME:" and "N:" in front of a line. N must be the number that the instruction gets. */
static int parse_labels(struct assembler *as)
{
	struct asm_scan *scan = &as->scan;
	const char *start, *rest;
	struct asm_word word;
	uint64_t number;
	int ret;

	for (;;) {
		asm_space(scan);
		start = scan->p;
		if (!asm_take_word(scan, &word) || *scan->p != ':') {
			scan->p = start;
			return 0;
		}
		rest = scan->p + 1;
		scan->p = start;
		ret = need_program(as);
		if (ret)
			return ret;
		if (*start >= '0' && *start <= '9') {
			if (asm_number(scan, "the instruction's number", 0, UINT32_MAX, &number))
				return -EINVAL;
			if (number != as->prog.image->insn_cnt)
				return asm_fail(scan, start,
						"numbered %llu, but this is instruction %u: "
						"correct the numbers or leave them out",
						(unsigned long long)number,
						as->prog.image->insn_cnt);
		} else {
			ret = asm_unit_label(&as->prog, scan, &word);
			if (ret)
				return ret;
		}
		scan->p = rest;
	}
}

static int parse_line(struct assembler *as)
{
	struct asm_scan *scan = &as->scan;
	struct asm_word word;
	int ret;

	if (asm_at_end(scan))
		return 0;
	if (*scan->p != '.') {
		ret = parse_labels(as);
		if (ret || asm_at_end(scan))
			return ret;
	}
	if (*scan->p == '.') {
		asm_take_word(scan, &word);
		if (asm_word_is(&word, ".prog"))
			return parse_prog(as);
		if (asm_word_is(&word, ".insn")) {
			ret = need_program(as);
			return ret ? ret : parse_raw_insn(as);
		}
		if (asm_directive_is_of_program(&word)) {
			ret = need_program(as);
			if (ret)
				return ret;
		}
		return asm_directive(as->in_prog ? &as->prog : &as->common, scan, &word);
	}
	ret = need_program(as);
	return ret ? ret : parse_insn(as);
}

static int parse_text(struct assembler *as, size_t len)
{
	char *line = as->text, *end = as->text + len;
	const char *nul;
	int ret;

	while (line < end) {
		char *newline = memchr(line, '\n', (size_t)(end - line));
		size_t line_len = (size_t)((newline ? newline : end) - line);

		as->scan.lineno++;
		as->scan.line = as->scan.p = line;
		line[line_len] = '\0';
		nul = memchr(line, '\0', line_len);
		if (nul)
			return asm_fail(&as->scan, nul, "a zero byte: this is no text");
		ret = parse_line(as);
		if (ret)
			return ret;
		line += line_len + 1;
	}
	return finish_program(as);
}

int loupe_asm_load(const char *path, const char *text, size_t len, struct loupe_program_list *out,
		   struct loupe_error *err)
{
	struct assembler as = { .scan = { .path = path, .err = err } };
	int ret = -ENOMEM;

	*out = (struct loupe_program_list){ 0 };
	as.text = malloc(len + 1);
	as.common.image = loupe_image_create();
	if (as.text && as.common.image) {
		if (len)
			memcpy(as.text, text, len);
		as.text[len] = '\0';
		ret = parse_text(&as, len);
		if (!ret && as.list.cnt == 0)
			ret = asm_fail(&as.scan, NULL, "there is no instruction in this text");
	}
	if (ret == -ENOMEM)
		loupe_error_set(err, ret, "not enough memory to assemble %s",
				path ? path : "the text");
	unit_finish(&as.prog);
	unit_finish(&as.common);
	free(as.text);
	if (ret)
		loupe_program_list_finish(&as.list);
	else
		*out = as.list;
	return ret;
}
