// SPDX-License-Identifier: GPL-2.0-only
/*
 * The table of maps, and the fields of their values that the kernel looks after (locks, timers,
 * kernel pointers …), which are found by the names of their types.
 */
#include "verifier/resolve.h"
#include "verifier/vf.h"

static const struct {
	const char *name;
	enum vf_field_kind kind;
	uint32_t size, align;
	bool once; /* at most one in a structure */
} special[] = {
	{ "bpf_spin_lock", VF_FIELD_SPIN_LOCK, 4, 4, true },
	{ "bpf_res_spin_lock", VF_FIELD_RES_SPIN_LOCK, 4, 4, true },
	{ "bpf_timer", VF_FIELD_TIMER, 16, 8, true },
	{ "bpf_wq", VF_FIELD_WQ, 16, 8, true },
	{ "bpf_task_work", VF_FIELD_TASK_WORK, 8, 8, true },
	{ "bpf_list_head", VF_FIELD_ROOT, 16, 8, false },
	{ "bpf_rb_root", VF_FIELD_ROOT, 16, 8, false },
	{ "bpf_refcount", VF_FIELD_REFCOUNT, 4, 4, false },
};

enum {
	MAX_DEPTH = 32,
	/* Members looked at for all maps. Types that hold each other twice, and those again, have
	 * more than any time is enough for; no program that is meant to run comes near. */
	MAX_LOOKS = 1 << 22,
};

/* What a search found; a map whose search fails has no such fields at all. */
struct search {
	const struct btf *btf;
	struct vf_map *map;
	uint32_t looks; /* that are left */
	bool failed;
};

/* A variable or member. */
struct place {
	uint32_t type;
	uint32_t off;  /* byte in the value */
	uint32_t size; /* what it must have, 0: any */
	uint32_t depth;
};

static void add_fields(struct search *s, enum vf_field_kind kind, uint32_t off, uint32_t size,
		       uint32_t cnt)
{
	struct vf_map *map = s->map;

	/* only pointers and roots may be many */
	if (cnt > VF_MAX_FIELDS - map->field_cnt ||
	    (cnt > 1 && kind != VF_FIELD_POINTER && kind != VF_FIELD_ROOT)) {
		s->failed = true;
		return;
	}
	for (uint32_t i = 0; i < cnt; i++)
		map->fields[map->field_cnt++] =
			(struct vf_field){ .kind = kind, .off = off + i * size, .size = size };
}

/* A pointer that is tagged as one the kernel keeps. */
static bool is_tagged_pointer(const struct btf *btf, uint32_t id)
{
	const struct btf_type *t = btf_type(btf, id);

	if (t && btf_type_kind(t) == BTF_KIND_VOLATILE)
		t = btf_type(btf, t->type);
	return t && btf_type_kind(t) == BTF_KIND_PTR && btf_kind(btf, t->type) == BTF_KIND_TYPE_TAG;
}

static void find_in_struct(struct search *s, uint32_t id, uint32_t base, uint32_t depth);

/* The fields of a structure, again for each further one in an array of cnt. */
static void find_in_structs(struct search *s, const struct place *place, uint32_t id, uint32_t cnt)
{
	uint32_t size = btf_type(s->btf, id)->size, first = s->map->field_cnt, end;

	if (place->size && place->size != (uint64_t)size * cnt)
		return;
	if (place->depth >= MAX_DEPTH) {
		s->failed = true;
		return;
	}
	find_in_struct(s, id, place->off, place->depth + 1);
	end = s->map->field_cnt;
	for (uint32_t i = 1; i < cnt && !s->failed; i++) {
		for (uint32_t k = first; k < end && !s->failed; k++) {
			const struct vf_field *field = &s->map->fields[k];

			s->failed = field->kind != VF_FIELD_POINTER && field->kind != VF_FIELD_ROOT;
			if (!s->failed)
				add_fields(s, field->kind, field->off + i * size, field->size, 1);
		}
		if (first == end)
			break;
	}
}

/* Only struct types are looked into. seen: kinds that the structure around has had, a bit for
 * each. */
static void find_at(struct search *s, const struct place *place, uint32_t *seen)
{
	uint32_t id = place->type, cnt = 1, depth = 0;
	const char *name;

	for (; depth < MAX_DEPTH && btf_kind(s->btf, id) == BTF_KIND_ARRAY; depth++) {
		const struct btf_array *array = btf_array(btf_type(s->btf, id));

		cnt *= array->nelems;
		id = array->type;
	}
	if (depth == MAX_DEPTH)
		s->failed = true;
	if (!cnt || s->failed)
		return;
	if (btf_kind(s->btf, id) != BTF_KIND_STRUCT) {
		enum { POINTER_SIZE = 8 };

		if (is_tagged_pointer(s->btf, id) && place->off % POINTER_SIZE == 0 &&
		    (!place->size || place->size == (uint64_t)cnt * POINTER_SIZE))
			add_fields(s, VF_FIELD_POINTER, place->off, POINTER_SIZE, cnt);
		return;
	}
	name = btf_name(s->btf, id);
	for (size_t i = 0; i < sizeof(special) / sizeof(special[0]); i++) {
		uint32_t size = special[i].size;

		if (strcmp(name, special[i].name) != 0)
			continue;
		if (special[i].once && (*seen & 1u << special[i].kind))
			s->failed = true;
		*seen |= 1u << special[i].kind;
		if (!s->failed && (!place->size || place->size == (uint64_t)size * cnt) &&
		    place->off % special[i].align == 0 && btf_type(s->btf, id)->size == size)
			add_fields(s, special[i].kind, place->off, size, cnt);
		return;
	}
	find_in_structs(s, place, id, cnt);
}

static void find_in_struct(struct search *s, uint32_t id, uint32_t base, uint32_t depth)
{
	const struct btf_type *t = btf_type(s->btf, id);
	const struct btf_member *members = btf_members(t);
	uint32_t seen = 0;

	for (uint32_t i = 0; i < btf_type_vlen(t) && !s->failed && s->looks; i++) {
		struct place place = { .type = members[i].type,
				       .off = base + btf_member_bit_offset(t, i) / 8,
				       .depth = depth };

		s->looks--;
		find_at(s, &place, &seen);
	}
}

static void find_in_section(struct search *s, const struct btf_type *t)
{
	const struct btf_var_secinfo *vars = btf_var_secinfos(t);
	uint32_t seen = 0;

	for (uint32_t i = 0; i < btf_type_vlen(t) && !s->failed; i++) {
		const struct btf_type *var = btf_type(s->btf, vars[i].type);
		struct place place = { .off = vars[i].offset, .size = vars[i].size };

		if (!var)
			continue;
		place.type = var->type;
		find_at(s, &place, &seen);
	}
}

bool vf_map_has_field(const struct vf_map *map, enum vf_field_kind kind)
{
	return vf_map_field_off(map, kind) >= 0;
}

int32_t vf_map_field_off(const struct vf_map *map, enum vf_field_kind kind)
{
	int32_t off = -1;

	/* of several the last one counts */
	for (uint32_t i = 0; i < map->field_cnt; i++) {
		if (map->fields[i].kind == kind)
			off = (int32_t)map->fields[i].off;
	}
	return off;
}

/* looks: members that may be looked at, and how many of these are left. */
static int find_special_fields(struct vf_env *env, struct vf_map *map, uint32_t *looks)
{
	struct search s = { .btf = env->btf, .map = map, .looks = *looks };
	uint32_t id = map->def->btf_value_type_id;
	bool lock;

	if (!s.btf || !id)
		return 0;
	id = btf_resolve(s.btf, id);
	if (btf_kind(s.btf, id) == BTF_KIND_STRUCT)
		find_in_struct(&s, id, 0, 0);
	else if (btf_kind(s.btf, id) == BTF_KIND_DATASEC)
		find_in_section(&s, btf_type(s.btf, id));
	if (!s.looks)
		return vf_not_judged(env, "map '%s': its values' types hold too many members",
				     map->def->name);
	*looks = s.looks;
	map->spin_lock_off = vf_map_field_off(map, VF_FIELD_SPIN_LOCK);
	map->res_spin_lock_off = vf_map_field_off(map, VF_FIELD_RES_SPIN_LOCK);
	lock = map->spin_lock_off >= 0 || map->res_spin_lock_off >= 0;
	if (s.failed || (map->spin_lock_off >= 0 && map->res_spin_lock_off >= 0) ||
	    (vf_map_has_field(map, VF_FIELD_ROOT) && !lock)) {
		map->field_cnt = 0;
		map->spin_lock_off = map->res_spin_lock_off = -1;
	}
	map->timer_off = vf_map_field_off(map, VF_FIELD_TIMER);
	return 0;
}

static int init_map(struct vf_env *env, struct vf_map *map, const struct loupe_map *def,
		    uint32_t *looks)
{
	map->def = def;
	map->inner = -1;
	map->spin_lock_off = -1;
	map->res_spin_lock_off = -1;
	map->timer_off = -1;
	if (!def)
		return 0;
	map->flags = def->map_flags;
	/* a lookup gives the kernel's own record of the device */
	if (def->type == BPF_MAP_TYPE_DEVMAP || def->type == BPF_MAP_TYPE_DEVMAP_HASH)
		map->flags |= BPF_F_RDONLY_PROG;
	return find_special_fields(env, map, looks);
}

int vf_collect_maps(struct vf_env *env)
{
	const struct loupe_image *image = env->image;
	uint32_t cnt = image->map_cnt, looks = MAX_LOOKS;
	int err;

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
		err = init_map(env, &env->maps[i], def, &looks);
		if (!err)
			err = init_map(env, &env->maps[cnt + i],
				       inner < 0 ? NULL : &image->maps[inner], &looks);
		if (err)
			return err;
		if (inner >= 0) {
			env->maps[i].inner = (int32_t)(cnt + i);
			env->maps[cnt + i].is_inner_template = true;
		}
	}
	return 0;
}
