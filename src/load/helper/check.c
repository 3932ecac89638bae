// SPDX-License-Identifier: GPL-2.0-only
#include "load/helper/check.h"

#include <linux/btf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Newer than the oldest kernel headers that this builds with. */
enum { KIND_DECL_TAG = 17, KIND_TYPE_TAG = 18, KIND_ENUM64 = 19 };

/* Bytes behind struct btf_type: fixed ones, and those of each of its vlen members. */
static const struct {
	uint8_t fixed, member;
	bool known;
} kinds[] = {
	[BTF_KIND_INT] = { 4, 0, true },
	[BTF_KIND_PTR] = { 0, 0, true },
	[BTF_KIND_ARRAY] = { sizeof(struct btf_array), 0, true },
	[BTF_KIND_STRUCT] = { 0, sizeof(struct btf_member), true },
	[BTF_KIND_UNION] = { 0, sizeof(struct btf_member), true },
	[BTF_KIND_ENUM] = { 0, sizeof(struct btf_enum), true },
	[BTF_KIND_FWD] = { 0, 0, true },
	[BTF_KIND_TYPEDEF] = { 0, 0, true },
	[BTF_KIND_VOLATILE] = { 0, 0, true },
	[BTF_KIND_CONST] = { 0, 0, true },
	[BTF_KIND_RESTRICT] = { 0, 0, true },
	[BTF_KIND_FUNC] = { 0, 0, true },
	[BTF_KIND_FUNC_PROTO] = { 0, sizeof(struct btf_param), true },
	[BTF_KIND_VAR] = { sizeof(struct btf_var), 0, true },
	[BTF_KIND_DATASEC] = { 0, sizeof(struct btf_var_secinfo), true },
	[BTF_KIND_FLOAT] = { 0, 0, true },
	[KIND_DECL_TAG] = { 4, 0, true },
	[KIND_TYPE_TAG] = { 0, 0, true },
	[KIND_ENUM64] = { 0, 12, true },
};

static bool has_nameless_param(const uint8_t *proto)
{
	struct btf_type type;
	struct btf_param param;

	memcpy(&type, proto, sizeof(type));
	for (uint32_t i = 0; i < BTF_INFO_VLEN(type.info); i++) {
		memcpy(&param, proto + sizeof(type) + i * sizeof(param), sizeof(param));
		if (!param.name_off && param.type)
			return true;
	}
	return false;
}

/* Fills offsets with where each type starts (ids from 1). Returns the number of ids, 0 if
 * unreadable. */
static uint32_t find_types(const uint8_t *types, uint32_t len, uint32_t *offsets)
{
	uint32_t pos = 0, id = 1;

	while (pos < len) {
		struct btf_type type;
		uint32_t kind, size;

		if (len - pos < sizeof(type))
			return 0;
		memcpy(&type, types + pos, sizeof(type));
		kind = BTF_INFO_KIND(type.info);
		if (kind >= sizeof(kinds) / sizeof(*kinds) || !kinds[kind].known)
			return 0;
		size = (uint32_t)sizeof(type) + kinds[kind].fixed +
		       BTF_INFO_VLEN(type.info) * kinds[kind].member;
		if (size > len - pos)
			return 0;
		offsets[id++] = pos;
		pos += size;
	}
	return id;
}

bool check_btf(const void *data, uint32_t size)
{
	const uint8_t *types;
	struct btf_header header;
	uint32_t *offsets, cnt;
	bool taken = true;

	if (size < sizeof(header))
		return true;
	memcpy(&header, data, sizeof(header));
	if (header.hdr_len > size || header.type_off > size - header.hdr_len ||
	    header.type_len > size - header.hdr_len - header.type_off)
		return true;
	types = (const uint8_t *)data + header.hdr_len + header.type_off;
	offsets = malloc((header.type_len / sizeof(struct btf_type) + 2) * sizeof(*offsets));
	cnt = offsets ? find_types(types, header.type_len, offsets) : 0;
	for (uint32_t id = 1; id < cnt && taken; id++) {
		struct btf_type func, proto;

		memcpy(&func, types + offsets[id], sizeof(func));
		if (BTF_INFO_KIND(func.info) != BTF_KIND_FUNC || func.type >= cnt || !func.type)
			continue;
		memcpy(&proto, types + offsets[func.type], sizeof(proto));
		taken = BTF_INFO_KIND(proto.info) != BTF_KIND_FUNC_PROTO ||
			!has_nameless_param(types + offsets[func.type]);
	}
	free(offsets);
	return taken;
}

/* Rules for one number of a map's definition. */
enum rule {
	ANY = 1,
	ZERO,
	SOME, /* not 0 */
	FOUR, /* 4 */
	FOUR_OR_EIGHT,
	EIGHT_OR_16,
	WORDS,	/* a multiple of 8, not 0 */
	PREFIX, /* a prefix length and 1 to 256 bytes */
	PAGES,	/* a power of 2 that is whole pages */
};

/* BPF_F_NO_PREALLOC and BPF_F_MMAPABLE, which some types must have. */
enum { NO_PREALLOC = 1, MMAPABLE = 1 << 10 };

/* By BPF_MAP_TYPE_*, whose numbers are the kernel's ABI. */
static const struct {
	uint8_t key, value, entries;
	uint32_t needs; /* flags */
} map_rules[] = {
	[1] = { SOME, SOME, SOME, 0 },		    /* hash */
	[2] = { FOUR, SOME, SOME, 0 },		    /* array */
	[3] = { FOUR, FOUR, SOME, 0 },		    /* prog_array */
	[4] = { FOUR, FOUR, SOME, 0 },		    /* perf_event_array */
	[5] = { SOME, SOME, SOME, 0 },		    /* percpu_hash */
	[6] = { FOUR, SOME, SOME, 0 },		    /* percpu_array */
	[7] = { FOUR, WORDS, SOME, 0 },		    /* stack_trace */
	[8] = { FOUR, FOUR, SOME, 0 },		    /* cgroup_array */
	[9] = { SOME, SOME, SOME, 0 },		    /* lru_hash */
	[10] = { SOME, SOME, SOME, 0 },		    /* lru_percpu_hash */
	[11] = { PREFIX, SOME, SOME, NO_PREALLOC }, /* lpm_trie */
	[12] = { FOUR, FOUR, SOME, 0 },		    /* array_of_maps */
	[13] = { SOME, FOUR, SOME, 0 },		    /* hash_of_maps */
	[14] = { FOUR, FOUR_OR_EIGHT, SOME, 0 },    /* devmap */
	[15] = { FOUR, FOUR_OR_EIGHT, SOME, 0 },    /* sockmap */
	[16] = { FOUR, FOUR_OR_EIGHT, SOME, 0 },    /* cpumap */
	[17] = { FOUR, FOUR, SOME, 0 },		    /* xskmap */
	[18] = { SOME, FOUR_OR_EIGHT, SOME, 0 },    /* sockhash */
	[19] = { EIGHT_OR_16, SOME, ZERO, 0 },	    /* cgroup_storage */
	[20] = { FOUR, FOUR_OR_EIGHT, SOME, 0 },    /* reuseport_sockarray */
	[21] = { EIGHT_OR_16, SOME, ZERO, 0 },	    /* percpu_cgroup_storage */
	[22] = { ZERO, SOME, SOME, 0 },		    /* queue */
	[23] = { ZERO, SOME, SOME, 0 },		    /* stack */
	[24] = { FOUR, SOME, ZERO, NO_PREALLOC },   /* sk_storage */
	[25] = { FOUR, FOUR_OR_EIGHT, SOME, 0 },    /* devmap_hash */
	[26] = { FOUR, ANY, SOME, 0 },		    /* struct_ops */
	[27] = { ZERO, ZERO, PAGES, 0 },	    /* ringbuf */
	[28] = { FOUR, SOME, ZERO, NO_PREALLOC },   /* inode_storage */
	[29] = { FOUR, SOME, ZERO, NO_PREALLOC },   /* task_storage */
	[30] = { ZERO, SOME, SOME, 0 },		    /* bloom_filter */
	[31] = { ZERO, ZERO, PAGES, 0 },	    /* user_ringbuf */
	[32] = { FOUR, SOME, ZERO, NO_PREALLOC },   /* cgrp_storage */
	[33] = { ZERO, ZERO, SOME, MMAPABLE },	    /* arena */
};

static bool obeys(enum rule rule, uint32_t number)
{
	switch (rule) {
	case ANY:
		return true;
	case ZERO:
		return number == 0;
	case SOME:
		return number != 0;
	case FOUR:
		return number == 4;
	case FOUR_OR_EIGHT:
		return number == 4 || number == 8;
	case EIGHT_OR_16:
		return number == 8 || number == 16;
	case WORDS:
		return number && number % 8 == 0;
	case PREFIX:
		return number > 4 && number <= 4 + 256;
	case PAGES:
		return number >= 4096 && !(number & (number - 1));
	}
	return true;
}

static bool check_map(const struct loupe_map *map)
{
	if (map->type >= sizeof(map_rules) / sizeof(*map_rules) || !map_rules[map->type].key)
		return map->type != 0; /* newer than this table: not for us to say */
	return obeys(map_rules[map->type].key, map->key_size) &&
	       obeys(map_rules[map->type].value, map->value_size) &&
	       obeys(map_rules[map->type].entries, map->max_entries) &&
	       (map->map_flags & map_rules[map->type].needs) == map_rules[map->type].needs;
}

void check_maps(const struct loupe_image *image, char *reason, size_t size)
{
	reason[0] = '\0';
	for (uint32_t i = 0; i < image->map_cnt && !reason[0]; i++) {
		const struct loupe_map *map = &image->maps[i];

		if (check_map(map))
			continue;
		snprintf(reason, size,
			 "map %s: the kernel refuses a map of type %u with key size %u, value size "
			 "%u, "
			 "%u entries, flags 0x%x; a tool must set them before it loads",
			 map->name, map->type, map->key_size, map->value_size, map->max_entries,
			 map->map_flags);
	}
}
