// SPDX-License-Identifier: GPL-2.0-only
/* Opens any bytes as BTF and asks everything of every type. */
#include <stdlib.h>
#include <string.h>

#include "btf/btf.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static uint64_t sum; /* of all that was read, so that nothing is optimized away */

static void read_string(const char *s)
{
	sum += strlen(s);
}

static void read_entries(const struct btf *btf, const struct btf_type *t)
{
	uint32_t kind = btf_type_kind(t);

	for (uint32_t i = 0; i < btf_type_vlen(t); i++) {
		if (kind == BTF_KIND_STRUCT || kind == BTF_KIND_UNION) {
			read_string(btf_str(btf, btf_members(t)[i].name_off));
			sum += btf_member_bit_offset(t, i) + btf_member_bit_size(t, i);
			sum += btf_resolve(btf, btf_members(t)[i].type);
		} else if (kind == BTF_KIND_FUNC_PROTO) {
			read_string(btf_str(btf, btf_params(t)[i].name_off));
			sum += btf_kind(btf, btf_params(t)[i].type);
		} else if (kind == BTF_KIND_ENUM) {
			read_string(btf_str(btf, btf_enums(t)[i].name_off));
		} else if (kind == BTF_KIND_ENUM64) {
			read_string(btf_str(btf, btf_enums64(t)[i].name_off));
		} else if (kind == BTF_KIND_DATASEC) {
			sum += btf_kind(btf, btf_var_secinfos(t)[i].type);
		}
	}
}

static void read_type(const struct btf *btf, uint32_t id)
{
	const struct btf_type *t = btf_type(btf, id);
	uint32_t size;

	read_string(btf_name(btf, id));
	sum += btf_resolve(btf, id);
	if (!btf_size(btf, id, &size))
		sum += size;
	if (!t)
		return;
	read_entries(btf, t);
	switch (btf_type_kind(t)) {
	case BTF_KIND_INT:
		sum += btf_int_data(t);
		break;
	case BTF_KIND_ARRAY:
		sum += btf_kind(btf, btf_array(t)->type) + btf_array(t)->nelems;
		break;
	case BTF_KIND_VAR:
		sum += btf_var(t)->linkage;
		break;
	case BTF_KIND_FUNC:
		sum += btf_func_linkage(t);
		if (btf_func_proto(btf, id))
			read_entries(btf, btf_func_proto(btf, id));
		break;
	case BTF_KIND_DECL_TAG:
		sum += btf_find_decl_tag(btf, t->type, btf_decl_tag(t)->component_idx, 0);
		break;
	default:
		break;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct loupe_error err;
	struct btf *btf;

	if (btf_open(data, size, &btf, &err)) {
		if (btf)
			abort();
		return 0;
	}
	for (uint32_t id = 0; id <= btf_type_cnt(btf); id++)
		read_type(btf, id);
	sum += btf_find(btf, "int", BTF_KIND_INT);
	btf_close(btf);
	return 0;
}
