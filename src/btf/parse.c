// SPDX-License-Identifier: GPL-2.0-only
/* Opening BTF: everything that the accessors take for granted is checked here. */
#include "btf/parse.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* What follows a type of a kind, and what its size/type word means. */
static const struct kind_form {
	bool known;
	bool refers;   /* the word is a type id */
	uint8_t fixed; /* bytes that follow */
	uint8_t each;  /* bytes that follow for each of vlen entries */
} kind_forms[NR_BTF_KINDS] = {
	[BTF_KIND_INT] = { .known = true, .fixed = sizeof(uint32_t) },
	[BTF_KIND_PTR] = { .known = true, .refers = true },
	[BTF_KIND_ARRAY] = { .known = true, .fixed = sizeof(struct btf_array) },
	[BTF_KIND_STRUCT] = { .known = true, .each = sizeof(struct btf_member) },
	[BTF_KIND_UNION] = { .known = true, .each = sizeof(struct btf_member) },
	[BTF_KIND_ENUM] = { .known = true, .each = sizeof(struct btf_enum) },
	[BTF_KIND_FWD] = { .known = true },
	[BTF_KIND_TYPEDEF] = { .known = true, .refers = true },
	[BTF_KIND_VOLATILE] = { .known = true, .refers = true },
	[BTF_KIND_CONST] = { .known = true, .refers = true },
	[BTF_KIND_RESTRICT] = { .known = true, .refers = true },
	[BTF_KIND_FUNC] = { .known = true, .refers = true },
	[BTF_KIND_FUNC_PROTO] = { .known = true, .refers = true, .each = sizeof(struct btf_param) },
	[BTF_KIND_VAR] = { .known = true, .refers = true, .fixed = sizeof(struct btf_var) },
	[BTF_KIND_DATASEC] = { .known = true, .each = sizeof(struct btf_var_secinfo) },
	[BTF_KIND_FLOAT] = { .known = true },
	[BTF_KIND_DECL_TAG] = { .known = true,
				.refers = true,
				.fixed = sizeof(struct btf_decl_tag) },
	[BTF_KIND_TYPE_TAG] = { .known = true, .refers = true },
	[BTF_KIND_ENUM64] = { .known = true, .each = sizeof(struct btf_enum64) },
};

struct parser {
	const uint8_t *data;
	size_t size;
	size_t type_start, type_end; /* the type section in data */
	struct btf *btf;
	struct loupe_error *err;
};

static int malformed(struct parser *p, size_t at, const char *what)
{
	loupe_error_set(p->err, -EINVAL, "malformed BTF: %s", what);
	if (p->err)
		p->err->offset = (int64_t)at;
	return -EINVAL;
}

static int parse_header(struct parser *p)
{
	struct btf_header hdr;
	uint64_t type_start, str_start;

	if (p->size < sizeof(hdr))
		return malformed(p, p->size, "it ends inside the header");
	memcpy(&hdr, p->data, sizeof(hdr));
	if (hdr.magic == __builtin_bswap16(BTF_MAGIC))
		return malformed(p, 0, "it has the other byte order");
	if (hdr.magic != BTF_MAGIC)
		return malformed(p, 0, "wrong magic number");
	if (hdr.version != BTF_VERSION)
		return malformed(p, offsetof(struct btf_header, version), "unknown version");
	if (hdr.hdr_len < sizeof(hdr) || hdr.hdr_len > p->size)
		return malformed(p, offsetof(struct btf_header, hdr_len), "wrong header length");

	type_start = (uint64_t)hdr.hdr_len + hdr.type_off;
	str_start = (uint64_t)hdr.hdr_len + hdr.str_off;
	if (type_start + hdr.type_len > p->size)
		return malformed(p, offsetof(struct btf_header, type_len),
				 "the types lie outside of it");
	if (str_start + hdr.str_len > p->size)
		return malformed(p, offsetof(struct btf_header, str_len),
				 "the strings lie outside of it");
	if (type_start % sizeof(uint32_t))
		return malformed(p, offsetof(struct btf_header, type_off),
				 "the types are not aligned");
	if (!hdr.str_len || p->data[str_start] || p->data[str_start + hdr.str_len - 1])
		return malformed(p, offsetof(struct btf_header, str_off),
				 "the strings do not begin and end with a zero byte");

	p->type_start = (size_t)type_start;
	p->type_end = (size_t)type_start + hdr.type_len;
	p->btf->strs = (const char *)p->data + str_start;
	p->btf->str_len = hdr.str_len;
	return 0;
}

/* The type at offset at; *next is where the one after it begins. NULL if it has no room. */
static const struct btf_type *type_at(const struct parser *p, size_t at, size_t *next)
{
	const struct btf_type *t = (const struct btf_type *)(const void *)(p->data + at);
	const struct kind_form *form;
	size_t left = p->type_end - at;

	if (left < sizeof(*t) || btf_type_kind(t) >= NR_BTF_KINDS)
		return NULL;
	form = &kind_forms[btf_type_kind(t)];
	left -= sizeof(*t);
	if (!form->known || left < form->fixed + (size_t)form->each * btf_type_vlen(t))
		return NULL;
	*next = at + sizeof(*t) + form->fixed + (size_t)form->each * btf_type_vlen(t);
	return t;
}

static int index_types(struct parser *p)
{
	struct btf *btf = p->btf;
	uint32_t cnt = 1;
	size_t next;

	for (size_t at = p->type_start; at < p->type_end; at = next) {
		if (!type_at(p, at, &next))
			return malformed(p, at, "a type of unknown kind or without room");
		cnt++;
	}
	btf->types = calloc(cnt, sizeof(const struct btf_type *));
	if (!btf->types)
		return loupe_error_set(p->err, -ENOMEM, "out of memory for BTF");
	for (size_t at = p->type_start; at < p->type_end; at = next)
		btf->types[++btf->type_cnt] = type_at(p, at, &next);
	btf->type_cnt = cnt;
	return 0;
}

/* The names and type ids in one of the entries that follow t. */
static bool entry_ok(const struct btf *btf, const struct btf_type *t, uint32_t i)
{
	switch (btf_type_kind(t)) {
	case BTF_KIND_STRUCT:
	case BTF_KIND_UNION:
		return btf_members(t)[i].name_off < btf->str_len &&
		       btf_members(t)[i].type < btf->type_cnt;
	case BTF_KIND_FUNC_PROTO:
		return btf_params(t)[i].name_off < btf->str_len &&
		       btf_params(t)[i].type < btf->type_cnt;
	case BTF_KIND_ENUM:
		return btf_enums(t)[i].name_off < btf->str_len;
	case BTF_KIND_ENUM64:
		return btf_enums64(t)[i].name_off < btf->str_len;
	case BTF_KIND_DATASEC:
		return btf_var_secinfos(t)[i].type < btf->type_cnt;
	default:
		return true;
	}
}

static int check_types(struct parser *p)
{
	const struct btf *btf = p->btf;

	for (uint32_t id = 1; id < btf->type_cnt; id++) {
		const struct btf_type *t = btf->types[id];
		const struct kind_form *form = &kind_forms[btf_type_kind(t)];
		bool ok = t->name_off < btf->str_len;

		if (form->refers)
			ok = ok && t->type < btf->type_cnt;
		if (btf_type_kind(t) == BTF_KIND_ARRAY)
			ok = ok && btf_array(t)->type < btf->type_cnt &&
			     btf_array(t)->index_type < btf->type_cnt;
		for (uint32_t i = 0; ok && form->each && i < btf_type_vlen(t); i++)
			ok = entry_ok(btf, t, i);
		if (!ok)
			return malformed(p, (size_t)((const uint8_t *)t - p->data),
					 "a type with a name or a type id that does not exist");
	}
	return 0;
}

int btf_open_owned(const void *data, size_t size, void *owned, struct btf **out,
		   struct loupe_error *err)
{
	struct parser p = { .data = data, .size = size, .err = err };
	int ret;

	p.btf = calloc(1, sizeof(*p.btf));
	if (!p.btf) {
		free(owned);
		return loupe_error_set(err, -ENOMEM, "out of memory for BTF");
	}
	p.btf->owned = owned;
	ret = parse_header(&p);
	if (!ret)
		ret = index_types(&p);
	if (!ret)
		ret = check_types(&p);
	if (ret) {
		btf_close(p.btf);
		return ret;
	}
	*out = p.btf;
	return 0;
}

int btf_open(const void *data, size_t size, struct btf **out, struct loupe_error *err)
{
	void *copy = NULL;

	*out = NULL;
	if ((uintptr_t)data % sizeof(uint32_t)) {
		copy = malloc(size ? size : 1);
		if (!copy)
			return loupe_error_set(err, -ENOMEM, "out of memory for BTF");
		memcpy(copy, data, size);
		data = copy;
	}
	return btf_open_owned(data, size, copy, out, err);
}
