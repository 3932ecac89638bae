// SPDX-License-Identifier: GPL-2.0-only
/*
 * A small reader of C declarations: integers, pointers, const and volatile, arrays, structs,
 * unions, typedefs, and prototypes with the argument tags of bpf_helpers.h. Sizes are those of the
 * BPF target, where pointers and long have 8 bytes.
 */
#include <errno.h>
#include <linux/btf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "insn/asm_btf.h"
#include "insn/asm_unit.h"

#define NESTING_MAX   16
#define TYPES_MAX     4096
#define MEMBERS_MAX   1024
#define TYPE_SIZE_MAX (1u << 28) /* a member's offset in bits has 32 bits */

/* One of C's integer types. */
struct integer {
	const char *name;
	uint8_t size;
	uint8_t encoding; /* BTF_INT_* */
};

/* A declared name and its type. */
struct declarator {
	struct asm_word name; /* len 0 where there is none */
	uint32_t type;	      /* id, 0 is void */
};

/* Adds a type. The row is valid until the next one is added. */
static int add_type(struct asm_btf *btf, struct asm_scan *scan, const struct asm_btf_type *type,
		    uint32_t *id)
{
	if (btf->type_cnt >= TYPES_MAX)
		return asm_fail(scan, scan->p,
				"more than %d types: give BTF that a compiler made by .btf",
				TYPES_MAX);
	if (asm_grow((void **)&btf->types, btf->type_cnt, &btf->type_cap, sizeof(*type)))
		return -ENOMEM;
	btf->types[btf->type_cnt++] = *type;
	*id = btf->type_cnt;
	return 0;
}

static int add_named(struct asm_btf *btf, struct asm_scan *scan, const struct asm_word *word,
		     struct asm_btf_type *type, uint32_t *id)
{
	if (asm_btf_string(btf, word->p, word->len, &type->name))
		return -ENOMEM;
	return add_type(btf, scan, type, id);
}

/* Appends to what follows the type in the BTF. */
static int add_extra(struct asm_btf *btf, uint32_t id, const void *data, size_t len)
{
	struct asm_btf_type *type = &btf->types[id - 1];
	uint8_t *grown = realloc(type->extra, type->extra_len + len);

	if (!grown)
		return -ENOMEM;
	memcpy(grown + type->extra_len, data, len);
	type->extra = grown;
	type->extra_len += (uint32_t)len;
	return 0;
}

/* The type behind typedef, const and volatile, NULL for void. */
static const struct asm_btf_type *resolve(const struct asm_btf *btf, uint32_t id)
{
	while (id) {
		const struct asm_btf_type *type = &btf->types[id - 1];

		if (type->kind != BTF_KIND_TYPEDEF && type->kind != BTF_KIND_CONST &&
		    type->kind != BTF_KIND_VOLATILE)
			return type;
		id = type->size_or_type;
	}
	return NULL;
}

static uint32_t size_of(const struct asm_btf *btf, uint32_t id)
{
	const struct asm_btf_type *type = resolve(btf, id);

	return type ? type->size : 0;
}

static uint32_t align_of(const struct asm_btf *btf, uint32_t id)
{
	const struct asm_btf_type *type = resolve(btf, id);

	return type ? type->align : 1;
}

/* The type of that kind and name, 0 if there is none. */
static uint32_t find_type(const struct asm_btf *btf, uint32_t kind, const struct asm_word *word)
{
	for (uint32_t i = 0; i < btf->type_cnt; i++) {
		if (btf->types[i].kind == kind && btf->types[i].name &&
		    asm_word_is(word, btf->strs + btf->types[i].name))
			return i + 1;
	}
	return 0;
}

static int add_integer(struct asm_btf *btf, struct asm_scan *scan, const struct integer *integer,
		       uint32_t *id)
{
	struct asm_word word = { integer->name, strlen(integer->name) };
	struct asm_btf_type type = {
		.kind = BTF_KIND_INT,
		.size_or_type = integer->size,
		.size = integer->size,
		.align = integer->size,
	};
	uint32_t info = (uint32_t)integer->encoding << 24 | integer->size * 8u;
	int ret;

	*id = find_type(btf, BTF_KIND_INT, &word);
	if (*id)
		return 0;
	ret = add_named(btf, scan, &word, &type, id);
	return ret ? ret : add_extra(btf, *id, &info, sizeof(info));
}

/* A type that only refers to another: const, volatile, typedef. */
static int add_alias(struct asm_btf *btf, struct asm_scan *scan, uint32_t kind,
		     const struct asm_word *word, uint32_t *id)
{
	struct asm_btf_type type = { .kind = kind, .size_or_type = *id };

	return word ? add_named(btf, scan, word, &type, id) : add_type(btf, scan, &type, id);
}

/* Fixed-width names need no declaration. */
static int fixed_type(struct asm_btf *btf, struct asm_scan *scan, const struct asm_word *word,
		      uint32_t *id)
{
	static const struct {
		const char *name;
		struct integer integer;
	} fixed[] = {
		{ "__u8", { "unsigned char", 1, 0 } },
		{ "__u16", { "unsigned short", 2, 0 } },
		{ "__u32", { "unsigned int", 4, 0 } },
		{ "__u64", { "unsigned long long", 8, 0 } },
		{ "__s8", { "signed char", 1, BTF_INT_SIGNED } },
		{ "__s16", { "short", 2, BTF_INT_SIGNED } },
		{ "__s32", { "int", 4, BTF_INT_SIGNED } },
		{ "__s64", { "long long", 8, BTF_INT_SIGNED } },
		{ "__be16", { "unsigned short", 2, 0 } },
		{ "__be32", { "unsigned int", 4, 0 } },
		{ "u8", { "unsigned char", 1, 0 } },
		{ "u16", { "unsigned short", 2, 0 } },
		{ "u32", { "unsigned int", 4, 0 } },
		{ "u64", { "unsigned long long", 8, 0 } },
		{ "s8", { "signed char", 1, BTF_INT_SIGNED } },
		{ "s16", { "short", 2, BTF_INT_SIGNED } },
		{ "s32", { "int", 4, BTF_INT_SIGNED } },
		{ "s64", { "long long", 8, BTF_INT_SIGNED } },
	};
	int ret;

	for (size_t i = 0; i < sizeof(fixed) / sizeof(fixed[0]); i++) {
		if (!asm_word_is(word, fixed[i].name))
			continue;
		ret = add_integer(btf, scan, &fixed[i].integer, id);
		return ret ? ret : add_alias(btf, scan, BTF_KIND_TYPEDEF, word, id);
	}
	return asm_fail(scan, word->p, "unknown type '%.*s': declare it with .decl", (int)word->len,
			word->p);
}

/* Words that make an integer in any order: unsigned long long int. */
static const char *const integer_words[] = { "unsigned", "signed", "char", "short", "int", "long" };
enum { UNSIGNED, SIGNED, CHAR, SHORT, INT, LONG, INTEGER_WORDS };

static bool count_integer_word(const struct asm_word *word, unsigned int counts[INTEGER_WORDS])
{
	for (int i = 0; i < INTEGER_WORDS; i++) {
		if (asm_word_is(word, integer_words[i])) {
			counts[i]++;
			return true;
		}
	}
	return false;
}

static int c_integer(struct asm_btf *btf, struct asm_scan *scan,
		     const unsigned int counts[INTEGER_WORDS], const char *start, uint32_t *id)
{
	static const struct {
		unsigned int chars, shorts, longs;
		struct integer plain, is_unsigned;
	} forms[] = {
		{ 0, 0, 0, { "int", 4, BTF_INT_SIGNED }, { "unsigned int", 4, 0 } },
		{ 1, 0, 0, { "char", 1, BTF_INT_SIGNED }, { "unsigned char", 1, 0 } },
		{ 0, 1, 0, { "short", 2, BTF_INT_SIGNED }, { "unsigned short", 2, 0 } },
		{ 0, 0, 1, { "long", 8, BTF_INT_SIGNED }, { "unsigned long", 8, 0 } },
		{ 0, 0, 2, { "long long", 8, BTF_INT_SIGNED }, { "unsigned long long", 8, 0 } },
	};
	bool clash = counts[UNSIGNED] + counts[SIGNED] > 1 || counts[INT] > 1 ||
		     (counts[CHAR] && counts[INT]);

	if (!clash && counts[CHAR] == 1 && counts[SIGNED] && !counts[SHORT] && !counts[LONG])
		return add_integer(btf, scan, &(struct integer){ "signed char", 1, BTF_INT_SIGNED },
				   id);
	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]) && !clash; i++) {
		if (counts[CHAR] == forms[i].chars && counts[SHORT] == forms[i].shorts &&
		    counts[LONG] == forms[i].longs)
			return add_integer(
				btf, scan,
				counts[UNSIGNED] ? &forms[i].is_unsigned : &forms[i].plain, id);
	}
	return asm_fail(scan, start, "these words make no integer type");
}

/* struct or union NAME, declared or not. */
static int tagged_type(struct asm_btf *btf, struct asm_scan *scan, uint32_t kind, uint32_t *id)
{
	struct asm_word word;

	if (!asm_take_word(scan, &word))
		return asm_fail(scan, scan->p, "the name of the struct or union is missing");
	*id = find_type(btf, kind, &word);
	if (*id)
		return 0;
	return add_named(btf, scan, &word, &(struct asm_btf_type){ .kind = kind, .align = 1 }, id);
}

/* The type that starts with word and is no integer of several words. */
static int word_type(struct asm_btf *btf, struct asm_scan *scan, const struct asm_word *word,
		     uint32_t *id)
{
	*id = 0;
	if (asm_word_is(word, "void"))
		return 0;
	if (asm_word_is(word, "struct"))
		return tagged_type(btf, scan, BTF_KIND_STRUCT, id);
	if (asm_word_is(word, "union"))
		return tagged_type(btf, scan, BTF_KIND_UNION, id);
	if (asm_word_is(word, "bool") || asm_word_is(word, "_Bool"))
		return add_integer(btf, scan, &(struct integer){ "_Bool", 1, BTF_INT_BOOL }, id);
	*id = find_type(btf, BTF_KIND_TYPEDEF, word);
	return *id ? 0 : fixed_type(btf, scan, word, id);
}

/* What stands in front of the declarators: "const struct pair", "unsigned int", "__u32", "void". */
static int base_type(struct asm_btf *btf, struct asm_scan *scan, uint32_t *id)
{
	unsigned int counts[INTEGER_WORDS] = { 0 };
	bool is_const = false, is_volatile = false, found = false, is_integer = false;
	const char *start, *word_start;
	struct asm_word word;
	int ret = 0;

	asm_space(scan);
	start = word_start = scan->p;
	while (!ret && asm_take_word(scan, &word)) {
		if (asm_word_is(&word, "const")) {
			is_const = true;
		} else if (asm_word_is(&word, "volatile")) {
			is_volatile = true;
		} else if (!found && count_integer_word(&word, counts)) {
			is_integer = true;
		} else if (found || is_integer) {
			scan->p = word_start;
			break;
		} else {
			found = true;
			ret = word_type(btf, scan, &word, id);
		}
		asm_space(scan);
		word_start = scan->p;
	}
	if (!ret && is_integer)
		ret = c_integer(btf, scan, counts, start, id);
	else if (!ret && !found)
		ret = asm_fail(scan, start, "a type is missing here");
	if (!ret && is_volatile)
		ret = add_alias(btf, scan, BTF_KIND_VOLATILE, NULL, id);
	if (!ret && is_const)
		ret = add_alias(btf, scan, BTF_KIND_CONST, NULL, id);
	return ret;
}

/* "[4]" behind a name; the first of several counts the outermost array. */
static int array_suffix(struct asm_btf *btf, struct asm_scan *scan, unsigned int depth,
			uint32_t *id)
{
	struct asm_btf_type type = { .kind = BTF_KIND_ARRAY };
	struct btf_array array = { 0 };
	const char *start;
	uint64_t size;
	int ret;

	asm_space(scan);
	start = scan->p;
	if (!asm_take(scan, "["))
		return 0;
	if (depth > NESTING_MAX)
		return asm_fail(scan, start, "too many dimensions");
	if (asm_u32(scan, "the number of elements", &array.nelems) || asm_expect(scan, "]"))
		return -EINVAL;
	ret = array_suffix(btf, scan, depth + 1, id);
	if (ret)
		return ret;
	if (size_of(btf, *id) == 0)
		return asm_fail(scan, start, "an array of a type without a size");
	size = (uint64_t)size_of(btf, *id) * array.nelems;
	if (size > TYPE_SIZE_MAX)
		return asm_fail(scan, start, "the array is too large");
	type.size = (uint32_t)size;
	type.align = align_of(btf, *id);
	array.type = *id;
	ret = add_integer(btf, scan, &(struct integer){ "__ARRAY_SIZE_TYPE__", 4, 0 },
			  &array.index_type);
	if (!ret)
		ret = add_type(btf, scan, &type, id);
	return ret ? ret : add_extra(btf, *id, &array, sizeof(array));
}

/* "*const p", "p[4]", "" behind a base type, whose id is in out->type. */
static int declarator(struct asm_btf *btf, struct asm_scan *scan, struct declarator *out)
{
	struct asm_btf_type pointer = { .kind = BTF_KIND_PTR, .size = 8, .align = 8 };
	unsigned int depth = 0;
	int ret;

	while (asm_take(scan, "*")) {
		if (++depth > NESTING_MAX)
			return asm_fail(scan, scan->p, "too many levels of pointers");
		pointer.size_or_type = out->type;
		ret = add_type(btf, scan, &pointer, &out->type);
		if (!ret && asm_take(scan, "const"))
			ret = add_alias(btf, scan, BTF_KIND_CONST, NULL, &out->type);
		if (ret)
			return ret;
	}
	asm_take_word(scan, &out->name);
	return array_suffix(btf, scan, 0, &out->type);
}

/* Members in braces. Their types come first in the BTF, hence the list. */
static int members(struct asm_btf *btf, struct asm_scan *scan, bool is_union, uint32_t id)
{
	uint32_t size = 0, align = 1, cnt = 0, base;
	struct asm_btf_type *type;
	int ret;

	while (!asm_take(scan, "}")) {
		ret = base_type(btf, scan, &base);
		if (ret)
			return ret;
		do {
			struct declarator decl = { .type = base };
			struct btf_member member = { 0 };
			const char *start = scan->p;
			uint32_t at;

			ret = declarator(btf, scan, &decl);
			if (ret)
				return ret;
			if (decl.name.len == 0 || size_of(btf, decl.type) == 0)
				return asm_fail(scan, start,
						"a member needs a name and a type with a size");
			if (++cnt > MEMBERS_MAX)
				return asm_fail(scan, start, "more than %d members", MEMBERS_MAX);
			at = align_of(btf, decl.type);
			align = at > align ? at : align;
			at = is_union ? 0 : (size + at - 1) / at * at;
			if (at + size_of(btf, decl.type) > size)
				size = at + size_of(btf, decl.type);
			if (size > TYPE_SIZE_MAX)
				return asm_fail(scan, start, "the struct is too large");
			member.type = decl.type;
			member.offset = at * 8;
			if (asm_btf_string(btf, decl.name.p, decl.name.len, &member.name_off) ||
			    add_extra(btf, id, &member, sizeof(member)))
				return -ENOMEM;
		} while (asm_take(scan, ","));
		if (asm_expect(scan, ";"))
			return -EINVAL;
	}
	type = &btf->types[id - 1];
	type->size = type->size_or_type = (size + align - 1) / align * align;
	type->align = align;
	type->vlen = cnt;
	return 0;
}

/* "struct NAME { ... }", where struct or union was taken. */
static int declare_tagged(struct asm_btf *btf, struct asm_scan *scan, uint32_t kind)
{
	const char *start = scan->p;
	uint32_t id;
	int ret;

	ret = tagged_type(btf, scan, kind, &id);
	if (ret)
		return ret;
	if (btf->types[id - 1].declared)
		return asm_fail(scan, start, "this name was declared before");
	if (asm_expect(scan, "{"))
		return -EINVAL;
	btf->types[id - 1].declared = true;
	return members(btf, scan, kind == BTF_KIND_UNION, id);
}

static int declare_typedef(struct asm_btf *btf, struct asm_scan *scan)
{
	struct declarator decl = { 0 };
	int ret;

	ret = base_type(btf, scan, &decl.type);
	if (!ret)
		ret = declarator(btf, scan, &decl);
	if (ret)
		return ret;
	if (decl.name.len == 0)
		return asm_fail(scan, scan->p, "the new type's name is missing");
	if (find_type(btf, BTF_KIND_TYPEDEF, &decl.name))
		return asm_fail(scan, decl.name.p, "this name was declared before");
	return add_alias(btf, scan, BTF_KIND_TYPEDEF, &decl.name, &decl.type);
}

int asm_btf_decl(struct asm_btf *btf, struct asm_scan *scan)
{
	int ret;

	do {
		if (asm_take(scan, "struct"))
			ret = declare_tagged(btf, scan, BTF_KIND_STRUCT);
		else if (asm_take(scan, "union"))
			ret = declare_tagged(btf, scan, BTF_KIND_UNION);
		else if (asm_take(scan, "typedef"))
			ret = declare_typedef(btf, scan);
		else
			ret = asm_fail(scan, scan->p, "expected struct, union or typedef here");
		if (ret || asm_expect(scan, ";"))
			return ret ? ret : -EINVAL;
		asm_space(scan);
	} while (*scan->p);
	return 0;
}

/* What the kernel reads from declaration tags of the function: about an argument, or itself. */
struct func_tag {
	int32_t arg; /* -1: the function */
	char text[64];
};

struct func_tags {
	struct func_tag at[32];
	uint32_t cnt;
};

static int add_tag(struct asm_scan *scan, struct func_tags *tags, int32_t arg, const char *prefix,
		   const struct asm_word *word)
{
	struct func_tag *tag = &tags->at[tags->cnt];
	int len;

	if (tags->cnt == sizeof(tags->at) / sizeof(tags->at[0]))
		return asm_fail(scan, scan->p, "too many tags");
	tag->arg = arg;
	len = snprintf(tag->text, sizeof(tag->text), "%s%.*s", prefix, (int)word->len, word->p);
	if (len < 0 || (size_t)len >= sizeof(tag->text))
		return asm_fail(scan, word->p, "this name is too long");
	tags->cnt++;
	return 0;
}

/* Tags behind an argument's name. */
static int take_arg_tags(struct asm_scan *scan, uint32_t arg, struct func_tags *tags)
{
	static const char *const known[] = { "ctx",	"nonnull", "nullable",
					     "trusted", "arena",   "untrusted" };
	char name[32];

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		struct asm_word word = { known[i], strlen(known[i]) };

		snprintf(name, sizeof(name), "__arg_%s", known[i]);
		if (!asm_take(scan, name))
			continue;
		if (add_tag(scan, tags, (int32_t)arg, "arg:", &word))
			return -EINVAL;
		i = (size_t)-1; /* there may be another */
	}
	return 0;
}

/* Tags behind the prototype. */
static int take_func_tags(struct asm_scan *scan, struct func_tags *tags)
{
	while (asm_take(scan, "__exception_cb")) {
		struct asm_word word;

		if (asm_expect(scan, "(") || !asm_take_word(scan, &word))
			return asm_fail(scan, scan->p, "expected (FUNCTION) here");
		if (add_tag(scan, tags, -1, "exception_callback:", &word) || asm_expect(scan, ")"))
			return -EINVAL;
	}
	return 0;
}

int asm_btf_func(struct asm_btf *btf, struct asm_scan *scan, uint32_t linkage, uint32_t *id,
		 struct asm_word *name)
{
	struct asm_btf_type proto = { .kind = BTF_KIND_FUNC_PROTO, .align = 1 };
	struct asm_btf_type func = { .kind = BTF_KIND_FUNC, .vlen = linkage, .align = 1 };
	struct btf_param params[16];
	struct func_tags tags = { .cnt = 0 };
	uint32_t proto_id, tag_id;
	struct declarator decl = { 0 };
	const char *start;
	bool more;
	int ret;

	ret = base_type(btf, scan, &decl.type);
	if (!ret)
		ret = declarator(btf, scan, &decl);
	if (ret)
		return ret;
	if (decl.name.len == 0)
		return asm_fail(scan, scan->p, "the function's name is missing");
	*name = decl.name;
	proto.size_or_type = decl.type;
	if (asm_expect(scan, "("))
		return -EINVAL;
	start = scan->p;
	more = !asm_take(scan, ")") && !(asm_take(scan, "void") && asm_take(scan, ")"));
	if (more)
		scan->p = start;
	while (more) {
		if (proto.vlen == sizeof(params) / sizeof(params[0]))
			return asm_fail(scan, scan->p, "too many arguments");
		decl = (struct declarator){ 0 };
		ret = base_type(btf, scan, &decl.type);
		if (!ret)
			ret = declarator(btf, scan, &decl);
		if (!ret)
			ret = take_arg_tags(scan, proto.vlen, &tags);
		if (ret)
			return ret;
		if (decl.name.len == 0 || decl.type == 0)
			return asm_fail(scan, scan->p, "an argument needs a type and a name");
		if (resolve(btf, decl.type) && resolve(btf, decl.type)->kind == BTF_KIND_ARRAY)
			return asm_fail(scan, scan->p,
					"an argument cannot be an array: write a pointer");
		params[proto.vlen].type = decl.type;
		if (asm_btf_string(btf, decl.name.p, decl.name.len, &params[proto.vlen].name_off))
			return -ENOMEM;
		proto.vlen++;
		more = asm_take(scan, ",");
		if (!more && asm_expect(scan, ")"))
			return -EINVAL;
	}
	if (take_func_tags(scan, &tags))
		return -EINVAL;
	if (!asm_at_end(scan))
		return asm_fail(scan, scan->p, "the prototype should end here");
	ret = add_type(btf, scan, &proto, &proto_id);
	if (!ret && proto.vlen)
		ret = add_extra(btf, proto_id, params, proto.vlen * sizeof(params[0]));
	func.size_or_type = proto_id;
	if (!ret)
		ret = add_named(btf, scan, name, &func, id);
	for (uint32_t i = 0; i < tags.cnt && !ret; i++) {
		struct asm_word word = { tags.at[i].text, strlen(tags.at[i].text) };
		struct asm_btf_type tag = { .kind = BTF_KIND_DECL_TAG,
					    .size_or_type = *id,
					    .align = 1 };
		struct btf_decl_tag arg = { .component_idx = tags.at[i].arg };

		ret = add_named(btf, scan, &word, &tag, &tag_id);
		if (!ret)
			ret = add_extra(btf, tag_id, &arg, sizeof(arg));
	}
	return ret;
}
