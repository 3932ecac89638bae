// SPDX-License-Identifier: GPL-2.0-only
/*
 * The table of maps, and the fields of their values that the kernel looks after (locks, timers,
 * kernel pointers …), which are found by the names of their types.
 */
#include "verifier/resolve.h"
#include "verifier/vf.h"

enum field {
	FIELD_NONE,
	FIELD_SPIN_LOCK,
	FIELD_RES_SPIN_LOCK,
	FIELD_TIMER,
	FIELD_WQ,
	FIELD_ROOT,   /* list head, tree root */
	FIELD_KERNEL, /* needs kernel types */
};

static const struct {
	const char *name;
	enum field field;
	uint32_t size, align;
} special[] = {
	{ "bpf_spin_lock", FIELD_SPIN_LOCK, 4, 4 },
	{ "bpf_res_spin_lock", FIELD_RES_SPIN_LOCK, 4, 4 },
	{ "bpf_timer", FIELD_TIMER, 16, 8 },
	{ "bpf_wq", FIELD_WQ, 16, 8 },
	{ "bpf_task_work", FIELD_KERNEL, 8, 8 },
	{ "bpf_list_head", FIELD_ROOT, 16, 8 },
	{ "bpf_rb_root", FIELD_ROOT, 16, 8 },
	{ "bpf_refcount", FIELD_KERNEL, 4, 4 },
};

enum { MAX_DEPTH = 32 };

static void note_field(struct vf_map *map, enum field field, uint32_t off)
{
	switch (field) {
	case FIELD_SPIN_LOCK:
		map->spin_lock_off = (int32_t)off;
		break;
	case FIELD_RES_SPIN_LOCK:
		map->res_spin_lock_off = (int32_t)off;
		break;
	case FIELD_TIMER:
		map->timer_off = (int32_t)off;
		break;
	case FIELD_WQ:
		map->wq_off = (int32_t)off;
		break;
	case FIELD_ROOT:
		map->has_graph_root = true;
		map->kernel_fields = true;
		break;
	case FIELD_KERNEL:
		map->kernel_fields = true;
		break;
	case FIELD_NONE:
		break;
	}
}

/* A pointer that is tagged as one the kernel keeps. */
static bool is_tagged_pointer(const struct btf *btf, uint32_t id)
{
	const struct btf_type *t = btf_type(btf, id);

	if (t && btf_type_kind(t) == BTF_KIND_VOLATILE)
		t = btf_type(btf, t->type);
	return t && btf_type_kind(t) == BTF_KIND_PTR && btf_kind(btf, t->type) == BTF_KIND_TYPE_TAG;
}

static void find_in_struct(const struct btf *btf, uint32_t id, uint32_t base, struct vf_map *map,
			   uint32_t depth);

/* Looks at a member or variable of type id at byte off; only struct types are looked into. */
static void find_in_member(const struct btf *btf, uint32_t id, uint32_t off, struct vf_map *map,
			   uint32_t depth)
{
	const char *name;

	for (uint32_t i = 0; i < MAX_DEPTH && btf_kind(btf, id) == BTF_KIND_ARRAY; i++) {
		const struct btf_array *array = btf_array(btf_type(btf, id));

		if (!array->nelems)
			return;
		id = array->type;
	}
	if (btf_kind(btf, id) != BTF_KIND_STRUCT) {
		if (is_tagged_pointer(btf, id))
			map->kernel_fields = true;
		return;
	}
	name = btf_name(btf, id);
	for (size_t i = 0; i < sizeof(special) / sizeof(special[0]); i++) {
		if (strcmp(name, special[i].name) != 0)
			continue;
		if (btf_type(btf, id)->size == special[i].size && off % special[i].align == 0)
			note_field(map, special[i].field, off);
		return;
	}
	if (depth < MAX_DEPTH)
		find_in_struct(btf, id, off, map, depth + 1);
}

static void find_in_struct(const struct btf *btf, uint32_t id, uint32_t base, struct vf_map *map,
			   uint32_t depth)
{
	const struct btf_type *t = btf_type(btf, id);
	const struct btf_member *members = btf_members(t);

	for (uint32_t i = 0; i < btf_type_vlen(t); i++)
		find_in_member(btf, members[i].type, base + btf_member_bit_offset(t, i) / 8, map,
			       depth);
}

static void find_special_fields(const struct btf *btf, struct vf_map *map)
{
	uint32_t id = map->def->btf_value_type_id;
	const struct btf_var_secinfo *vars;
	const struct btf_type *t;

	if (!btf || !id)
		return;
	id = btf_resolve(btf, id);
	t = btf_type(btf, id);
	switch (btf_kind(btf, id)) {
	case BTF_KIND_STRUCT:
		find_in_struct(btf, id, 0, map, 0);
		break;
	case BTF_KIND_DATASEC:
		vars = btf_var_secinfos(t);
		for (uint32_t i = 0; i < btf_type_vlen(t); i++) {
			const struct btf_type *var = btf_type(btf, vars[i].type);

			if (var)
				find_in_member(btf, var->type, vars[i].offset, map, 0);
		}
		break;
	default:
		break;
	}
}

static void init_map(const struct vf_env *env, struct vf_map *map, const struct loupe_map *def)
{
	map->def = def;
	map->inner = -1;
	map->spin_lock_off = -1;
	map->res_spin_lock_off = -1;
	map->timer_off = -1;
	map->wq_off = -1;
	if (!def)
		return;
	map->flags = def->map_flags;
	/* a lookup gives the kernel's own record of the device */
	if (def->type == BPF_MAP_TYPE_DEVMAP || def->type == BPF_MAP_TYPE_DEVMAP_HASH)
		map->flags |= BPF_F_RDONLY_PROG;
	find_special_fields(env->btf, map);
}

int vf_collect_maps(struct vf_env *env)
{
	const struct loupe_image *image = env->image;
	uint32_t cnt = image->map_cnt;

	env->map_cnt = 2 * cnt;
	if (!cnt)
		return 0;
	env->maps = vf_zalloc(env->slabs, env->map_cnt * sizeof(*env->maps));
	if (!env->maps)
		return -ENOMEM;
	for (uint32_t i = 0; i < cnt; i++) {
		const struct loupe_map *def = &image->maps[i];
		int inner = -1;

		if (def->type == BPF_MAP_TYPE_ARRAY_OF_MAPS ||
		    def->type == BPF_MAP_TYPE_HASH_OF_MAPS)
			inner = loupe_image_map_by_fd(image, def->inner_map_fd);
		init_map(env, &env->maps[i], def);
		init_map(env, &env->maps[cnt + i], inner < 0 ? NULL : &image->maps[inner]);
		if (inner >= 0) {
			env->maps[i].inner = (int32_t)(cnt + i);
			env->maps[cnt + i].is_inner_template = true;
		}
	}
	return 0;
}
