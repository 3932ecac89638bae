// SPDX-License-Identifier: GPL-2.0-only
#include "btf/btf.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "btf/parse.h"

/* References followed before a chain is taken for a cycle; the kernel allows 32. */
enum { MAX_CHAIN = 64 };

void btf_close(struct btf *btf)
{
	if (!btf)
		return;
	free(btf->types);
	free(btf->owned);
	free(btf);
}

uint32_t btf_type_cnt(const struct btf *btf)
{
	return btf->type_cnt;
}

const struct btf_type *btf_type(const struct btf *btf, uint32_t id)
{
	return id < btf->type_cnt ? btf->types[id] : NULL;
}

const char *btf_str(const struct btf *btf, uint32_t off)
{
	return off < btf->str_len ? btf->strs + off : "";
}

const char *btf_name(const struct btf *btf, uint32_t id)
{
	const struct btf_type *t = btf_type(btf, id);

	return t ? btf_str(btf, t->name_off) : "";
}

uint32_t btf_kind(const struct btf *btf, uint32_t id)
{
	const struct btf_type *t = btf_type(btf, id);

	return t ? btf_type_kind(t) : BTF_KIND_UNKN;
}

uint32_t btf_find(const struct btf *btf, const char *name, uint32_t kind)
{
	for (uint32_t id = 1; id < btf->type_cnt; id++) {
		const struct btf_type *t = btf->types[id];

		if (btf_type_kind(t) == kind && strcmp(btf_str(btf, t->name_off), name) == 0)
			return id;
	}
	return 0;
}

uint32_t btf_member_bit_offset(const struct btf_type *t, uint32_t i)
{
	uint32_t offset = btf_members(t)[i].offset;

	return btf_type_kflag(t) ? BTF_MEMBER_BIT_OFFSET(offset) : offset;
}

uint32_t btf_member_bit_size(const struct btf_type *t, uint32_t i)
{
	return btf_type_kflag(t) ? BTF_MEMBER_BITFIELD_SIZE(btf_members(t)[i].offset) : 0;
}

bool btf_kind_is_modifier(uint32_t kind)
{
	return kind == BTF_KIND_TYPEDEF || kind == BTF_KIND_VOLATILE || kind == BTF_KIND_CONST ||
	       kind == BTF_KIND_RESTRICT || kind == BTF_KIND_TYPE_TAG;
}

uint32_t btf_resolve(const struct btf *btf, uint32_t id)
{
	for (int i = 0; i < MAX_CHAIN; i++) {
		const struct btf_type *t = btf_type(btf, id);

		if (!t)
			return id ? BTF_NO_TYPE : 0;
		if (!btf_kind_is_modifier(btf_type_kind(t)))
			return id;
		id = t->type;
	}
	return BTF_NO_TYPE;
}

int btf_size(const struct btf *btf, uint32_t id, uint32_t *size)
{
	uint64_t count = 1;

	for (int i = 0; i < MAX_CHAIN; i++) {
		const struct btf_type *t = btf_type(btf, id);
		uint64_t one;

		if (!t)
			return -EINVAL;
		switch (btf_type_kind(t)) {
		case BTF_KIND_INT:
		case BTF_KIND_STRUCT:
		case BTF_KIND_UNION:
		case BTF_KIND_ENUM:
		case BTF_KIND_ENUM64:
		case BTF_KIND_FLOAT:
		case BTF_KIND_DATASEC:
			one = t->size;
			break;
		case BTF_KIND_PTR:
			one = sizeof(uint64_t);
			break;
		case BTF_KIND_ARRAY:
			count *= btf_array(t)->nelems;
			if (count > UINT32_MAX)
				return -EINVAL;
			id = btf_array(t)->type;
			continue;
		case BTF_KIND_TYPEDEF:
		case BTF_KIND_VOLATILE:
		case BTF_KIND_CONST:
		case BTF_KIND_RESTRICT:
		case BTF_KIND_TYPE_TAG:
		case BTF_KIND_VAR:
			id = t->type;
			continue;
		default:
			return -EINVAL;
		}
		if (count * one > UINT32_MAX)
			return -EINVAL;
		*size = (uint32_t)(count * one);
		return 0;
	}
	return -EINVAL;
}

const struct btf_type *btf_func_proto(const struct btf *btf, uint32_t id)
{
	const struct btf_type *t = btf_type(btf, id);

	if (!t || btf_type_kind(t) != BTF_KIND_FUNC)
		return NULL;
	t = btf_type(btf, t->type);
	return t && btf_type_kind(t) == BTF_KIND_FUNC_PROTO ? t : NULL;
}

uint32_t btf_func_linkage(const struct btf_type *t)
{
	return btf_type_vlen(t);
}

uint32_t btf_find_decl_tag(const struct btf *btf, uint32_t id, int32_t component, uint32_t after)
{
	for (uint32_t tag = after + 1; tag < btf->type_cnt; tag++) {
		const struct btf_type *t = btf->types[tag];

		if (btf_type_kind(t) == BTF_KIND_DECL_TAG && t->type == id &&
		    btf_decl_tag(t)->component_idx == component)
			return tag;
	}
	return 0;
}
