// SPDX-License-Identifier: GPL-2.0-only
/* The types and strings that declarations made, and their BTF (Documentation/bpf/btf.rst). */
#include "insn/asm_btf.h"

#include <errno.h>
#include <linux/btf.h>
#include <stdlib.h>
#include <string.h>

#include "insn/asm_unit.h"

void asm_btf_finish(struct asm_btf *btf)
{
	for (uint32_t i = 0; i < btf->type_cnt; i++)
		free(btf->types[i].extra);
	free(btf->types);
	free(btf->strs);
	*btf = (struct asm_btf){ 0 };
}

int asm_btf_copy(struct asm_btf *to, const struct asm_btf *from)
{
	if (from->strs_len) {
		to->strs = malloc(from->strs_len);
		if (!to->strs)
			return -ENOMEM;
		memcpy(to->strs, from->strs, from->strs_len);
		to->strs_len = to->strs_cap = from->strs_len;
	}
	for (uint32_t i = 0; i < from->type_cnt; i++) {
		struct asm_btf_type *type;

		if (asm_grow((void **)&to->types, to->type_cnt, &to->type_cap, sizeof(*to->types)))
			return -ENOMEM;
		type = &to->types[to->type_cnt++];
		*type = from->types[i];
		if (!type->extra)
			continue;
		type->extra = malloc(type->extra_len);
		if (!type->extra)
			return -ENOMEM;
		memcpy(type->extra, from->types[i].extra, type->extra_len);
	}
	return 0;
}

int asm_btf_string(struct asm_btf *btf, const char *text, size_t len, uint32_t *off)
{
	if (len == 0 && btf->strs_len) {
		*off = 0;
		return 0;
	}
	while (btf->strs_cap - btf->strs_len < len + 2) {
		if (asm_grow((void **)&btf->strs, btf->strs_cap, &btf->strs_cap, 1))
			return -ENOMEM;
	}
	if (btf->strs_len == 0)
		btf->strs[btf->strs_len++] = '\0';
	*off = 0;
	if (len == 0)
		return 0;
	*off = btf->strs_len;
	memcpy(btf->strs + *off, text, len);
	btf->strs[*off + len] = '\0';
	btf->strs_len += (uint32_t)len + 1;
	return 0;
}

int asm_btf_emit(const struct asm_btf *btf, uint8_t **data, uint32_t *size)
{
	struct btf_header header = {
		.magic = BTF_MAGIC,
		.version = BTF_VERSION,
		.hdr_len = sizeof(header),
		.str_len = btf->strs_len,
	};
	uint8_t *p;

	*data = NULL;
	*size = 0;
	if (btf->strs_len == 0)
		return 0;
	for (uint32_t i = 0; i < btf->type_cnt; i++)
		header.type_len += (uint32_t)sizeof(struct btf_type) + btf->types[i].extra_len;
	header.str_off = header.type_len;
	*size = (uint32_t)sizeof(header) + header.type_len + header.str_len;
	p = *data = malloc(*size);
	if (!p)
		return -ENOMEM;
	memcpy(p, &header, sizeof(header));
	p += sizeof(header);
	for (uint32_t i = 0; i < btf->type_cnt; i++) {
		const struct asm_btf_type *type = &btf->types[i];
		struct btf_type head = {
			.name_off = type->name,
			.info = type->kind << 24 | type->vlen,
			.size = type->size_or_type,
		};

		memcpy(p, &head, sizeof(head));
		p += sizeof(head);
		if (type->extra_len)
			memcpy(p, type->extra, type->extra_len);
		p += type->extra_len;
	}
	memcpy(p, btf->strs, btf->strs_len);
	return 0;
}
