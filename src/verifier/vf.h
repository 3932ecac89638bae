/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Inside of the verifier: the environment of one run and what its files offer each other.
 *
 * Ownership rules that every file relies on:
 * - The current state's current frame (env->cur->frame[curframe]) is never shared, so its registers
 *   may be written at any time. Stacks, caller frames and checkpoints may be shared: write to them
 *   only through vf_frame_mut(), vf_slots_mut() and vf_reg_iter_mut(), and keep no pointer to a
 *   slot or a caller's register across a push of a branch or a checkpoint.
 * - All memory of a run comes from env->slabs and goes at once at the end.
 *
 * Errors: functions return 0 or the negative errno that the kernel returns, or VF_NOT_JUDGED /
 * VF_STOPPED; anything negative ends the path (and, but for absorbed speculative errors, the run).
 */
#ifndef LOUPE_VERIFIER_VF_H
#define LOUPE_VERIFIER_VF_H

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdint.h>
#include <string.h>

#include "bpfloupe/image.h"
#include "bpfloupe/state.h"
#include "bpfloupe/verify.h"
#include "btf/btf.h"
#include "insn/opcodes.h"
#include "verifier/typename.h"

#define VF_NOT_JUDGED (-0x4001) /* env->result->reason says what is not modelled */
#define VF_STOPPED    (-0x4002) /* cancelled, or memory limit */
#define VF_KERNEL_ENOMEM (-0x4003) /* the kernel answers -ENOMEM whatever memory there is */

/* Kernel error numbers that userspace's errno.h lacks. */
#define VF_ENOTSUPP 524

enum {
	VF_MAX_SUBPROGS = 256,
	VF_MAX_BRANCHES = 8192,	      /* pending paths */
	VF_MAX_KFUNCS = 256,	      /* different ones that a program calls */
	VF_MAX_INSNS = 1000000,	      /* program length, and default of processed insns */
	VF_MAX_STATES_UNPRIV = 64,    /* checkpoints of a bucket beyond which none is added */
	VF_MAX_VAR_OFF = 1 << 29,     /* pointer offsets beyond are rejected */
	VF_MAX_PACKET_OFF = 0xffff,
	VF_MAX_MAPS = 64,
	VF_MAX_FIELDS = 11, /* of a map's value */
	VF_MAX_LINKED_REGS = 6,
	VF_TMP_MSG = 1024,	      /* the kernel's buffer of one message, NUL included */
};

/* Parts of a map's value that the kernel looks after. */
enum vf_field_kind {
	VF_FIELD_SPIN_LOCK,
	VF_FIELD_RES_SPIN_LOCK,
	VF_FIELD_TIMER,
	VF_FIELD_WQ,
	VF_FIELD_TASK_WORK,
	VF_FIELD_REFCOUNT,
	VF_FIELD_ROOT,	  /* list head, tree root */
	VF_FIELD_POINTER, /* tagged: the kernel keeps what it points to */
};

struct vf_field {
	enum vf_field_kind kind;
	uint32_t off, size; /* bytes in the value */
};

/* A map as the verifier sees it. */
struct vf_map {
	const struct loupe_map *def;
	uint32_t flags;		/* BPF_F_*: def's and those that the map's type adds */
	int32_t inner;		/* index of the template's entry in env->maps, -1 */
	int32_t spin_lock_off;	/* byte offsets in the value, -1 if none */
	int32_t res_spin_lock_off;
	int32_t timer_off;
	struct vf_field fields[VF_MAX_FIELDS];
	uint32_t field_cnt;
	bool is_inner_template;	/* an inner_map_meta, not a map of its own */
	bool used;		/* a program insn names it */
	uint32_t struct_id;	/* the kernel's structure behind it, 0 before it is asked for */
};

/** Byte offset of a map value's field of that kind (of several, the last one), -1 if none. */
int32_t vf_map_field_off(const struct vf_map *map, enum vf_field_kind kind);

bool vf_map_has_field(const struct vf_map *map, enum vf_field_kind kind);

/* Where a function's stack lives. */
enum vf_priv_stack { VF_PRIV_STACK_UNKNOWN, VF_PRIV_STACK_NONE, VF_PRIV_STACK_ADAPTIVE };

/* Argument of a global function, from its BTF prototype. */
struct vf_arg {
	uint32_t type; /* argument type and flags, see helper.h */
	uint32_t mem_size;
	uint32_t btf_id;
};

struct vf_subprog {
	uint32_t start;		  /* first insn */
	uint32_t postorder_start; /* first index in env->postorder */
	uint32_t linfo_idx;	  /* first line info entry */
	uint32_t stack_depth;	  /* bytes used so far by any path */
	uint32_t stack_extra;
	int32_t fastcall_stack_off;
	bool keep_fastcall_stack;
	bool has_tail_call;
	bool tail_call_reachable;
	bool has_ld_abs;
	bool is_cb, is_async_cb, is_exception_cb;
	bool args_cached;
	bool changes_pkt_data;
	bool might_sleep;
	bool is_global; /* BTF linkage */
	bool called;	/* global: some explored function calls it */
	bool verified;
	bool unreliable; /* BTF prototype does not describe it */
	uint8_t arg_cnt;
	struct vf_arg args[5];
	uint32_t func_type_id; /* BTF_KIND_FUNC, 0 without func info */
	const char *name;      /* "" without func info */
	uint8_t priv_stack_mode; /* enum vf_priv_stack */
};

/* vf_aux.alu_state: what the masking code before pointer arithmetic does. */
enum {
	VF_ALU_SANITIZE_SRC = 1 << 0, /* the offset is in src */
	VF_ALU_SANITIZE_DST = 1 << 1, /* the offset is in dst */
	VF_ALU_NEG_VALUE = 1 << 2,
	VF_ALU_NON_POINTER = 1 << 3, /* two scalars here: must not be a pointer on another path */
	VF_ALU_IMMEDIATE = 1 << 4,
};

#define VF_MAP_KEY_POISON (1ull << 63) /* different keys, or not constant */
#define VF_MAP_KEY_SEEN	  (1ull << 62)

/* What is known of one insn over the whole run; what rewriting needs is kept here too. */
struct vf_aux {
	uint32_t ptr_type; /* memory access: pointer type seen, 0 none */
	int32_t map_idx;   /* ldimm64 of a map, or the one map of a helper call: index, -1 none */
	uint32_t map_off;  /* ldimm64 of a map value: offset in it */
	uint64_t map_key;  /* helper call: constant key, or'ed with VF_MAP_KEY_* */
	bool map_poison;   /* helper call: different maps */
	bool map_unpriv;   /* helper call: a map whose index must be masked */
	uint32_t alu_state, alu_limit; /* Spectre masking of pointer arithmetic: VF_ALU_*, bytes */
	uint32_t ctx_field_size;
	uint32_t mem_size;
	uint32_t scc;
	uint16_t live_regs;
	uint8_t storage_get_func_atomic;
	uint8_t fastcall_pattern;
	uint8_t fastcall_spills;
	uint32_t pass_seen; /* number of the exploration that last reached it, 0 never */
	bool prune_point, jmp_point, force_checkpoint, calls_callback, is_iter_next;
	bool nospec, nospec_result, sanitize_stack_spill;
	bool zext_dst, needs_zext;
	bool call_with_percpu_alloc_ptr;
	bool arena;
	bool loop_inline_known, loop_fit; /* bpf_loop: flags 0 and one callback always */
	uint32_t loop_callback_subprog;
	bool unconvertible; /* an access that cannot be rewritten */
	bool branch_true, branch_false; /* conditional jumps: condition seen */
	uint32_t obj_new_size;
	uint32_t orig_idx; /* insn of the image; differs once dead code is removed */
};

/*
 * Where a checkpoint differed from the state that it was compared with last, and what it has there:
 * the next one most likely differs there too, which is found without a look at its frames.
 */
struct vf_differed {
	struct loupe_slot old; /* a register is its spilled one */
	uint8_t frameno;
	int8_t reg, spi; /* -1: not one; both: nothing is known */
};

/* A stored checkpoint in its hash bucket. */
struct vf_checkpoint {
	struct vf_differed differed; /* two cache lines */
	struct vf_checkpoint *next, **pprev; /* bucket or free list */
	uint32_t miss_cnt, hit_cnt;
	bool in_free_list;
	struct loupe_state state; /* its first fields share a cache line with the above */
};

/* A path left for later. */
struct vf_branch {
	struct loupe_state state;
	int32_t insn_idx, prev_insn_idx;
	struct vf_branch *next;
};

/* Ids of an old state and of the present one that were found to correspond. */
struct vf_idmap {
	uint32_t tmp_id_gen;
	uint32_t cnt; /* entries in use */
	struct vf_id_pair {
		uint32_t old, cur;
	} map[(LOUPE_MAX_REG + LOUPE_MAX_SLOTS) * LOUPE_MAX_FRAMES];
};

/* Registers and slots still wanted by a precision walk. */
struct vf_backtrack {
	uint32_t frame;
	uint32_t reg_masks[LOUPE_MAX_FRAMES];
	uint64_t stack_masks[LOUPE_MAX_FRAMES];
};

/* What a program attaches to by the kernel's types (target.c). */
struct vf_target {
	const char *name;
	const struct btf_type *proto; /* the context holds this function's arguments */
	bool skips_first; /* but for the first one, which a tracepoint keeps to itself */
	const struct vf_iter *iter; /* what an iterator goes over, NULL: it is none */
};

struct vf_slabs;    /* slab.c */
struct vf_liveness; /* livestack.c */
struct vf_sccs;	    /* loops.c */

struct vf_env {
	const struct loupe_image *image;
	const struct loupe_verify_opts *opts;
	struct loupe_verify_result *result;
	struct vf_slabs *slabs;

	/* the program: a private copy, because phases rewrite it */
	struct loupe_insn *insns;
	uint32_t insn_cnt;
	struct vf_aux *aux; /* per insn */

	struct btf *program_btf;    /* image's, NULL if none */
	const struct btf *btf;	    /* the same, for reading */
	const struct btf *kernel_btf; /* the kernel's, NULL before vf_need_kernel_btf() */

	/* the image's, then for image map i at image->map_cnt + i its inner template (def NULL:
	 * none) */
	struct vf_map *maps;
	uint32_t map_cnt;

	uint32_t subprog_cnt;
	uint32_t *postorder; /* insns of each subprog in postorder */
	uint32_t postorder_cnt;
	uint32_t scc_cnt;
	int32_t exception_cb; /* subprog, -1 none */

	/* the load, once load.c has looked at it */
	uint32_t expected_attach_type; /* the default of the program type in place of 0 */
	bool sleepable, gpl_compatible;
	int32_t kfuncs[VF_MAX_KFUNCS]; /* type ids of the kernel functions called */
	uint32_t kfunc_cnt;
	struct vf_target target; /* proto NULL: none, or not by the kernel's types */

	const struct vf_proto **helpers; /* by helper number: prototype for this program, NULL
					    none */

	/* capabilities: all true for a privileged load */
	bool allow_ptr_leaks, allow_uninit_stack, bpf_capable, bypass_spec_v1, bypass_spec_v4;
	bool strict_alignment;
	bool test_state_freq, test_reg_invariants;

	/* exploration */
	enum loupe_phase phase;
	struct loupe_state *cur; /* current state */
	int32_t insn_idx, prev_insn_idx;
	uint32_t pass_cnt;	/* explorations started: main, then global functions */
	uint32_t subprog_now;	/* function whose exploration runs */
	struct vf_branch *head; /* pending paths, latest first */
	uint32_t branch_cnt;
	bool hist_open;		/* the present insn already has the last history entry */
	struct vf_checkpoint **buckets; /* explored states by (insn ^ callsite) % insn_cnt */
	struct vf_checkpoint *free_list;
	uint32_t free_list_size, explored_size, backedge_cnt;
	uint64_t next_serial;
	uint32_t stack_gen; /* last loupe_stack.gen given */
	uint32_t id_gen;
	uint32_t prev_insn_processed, prev_jmps_processed, jmps_processed;
	struct loupe_counters *counters; /* = &result->counters */
	uint32_t scratched_regs;
	uint64_t scratched_slots;
	struct vf_backtrack bt;
	uint16_t *walk_masks; /* precise.c: per insn, the registers that make it matter to a walk */
	struct vf_liveness *liveness;
	struct vf_sccs *sccs;
	struct loupe_reg fake_reg[2]; /* constants of comparisons */
	bool seen_direct_write;
	bool explore_alu_limits;

	/* large, and not zeroed at the start from idmap.map on */
	struct vf_idmap idmap;
	struct vf_subprog subprogs[VF_MAX_SUBPROGS + 2]; /* one past the last: the program's end */
};

#define VF_ENV_ZEROED offsetof(struct vf_env, idmap.map)

/* --- listeners ---------------------------------------------------------------------------- */

/* Calls hook NAME of every listener that has it: VF_EMIT(env, step, &step). */
#define VF_EMIT(env, name, ...)                                                                    \
	do {                                                                                       \
		for (uint32_t li_ = 0; li_ < (env)->opts->listener_cnt; li_++) {                   \
			const struct loupe_listener *l_ = &(env)->opts->listeners[li_];            \
			if (l_->hooks->name)                                                       \
				l_->hooks->name(l_->ctx, ##__VA_ARGS__);                           \
		}                                                                                  \
	} while (0)

static inline bool vf_listening(const struct vf_env *env)
{
	return __builtin_expect(env->opts->listener_cnt != 0, 0);
}

/* report.c */
/* Text of the log (levels 1 and 2); costs nothing when nobody listens. */
void vf_msg(struct vf_env *env, const char *fmt, ...) LOUPE_PRINTF(2, 3);
/* Text of log level 2 only. */
void vf_msg2(struct vf_env *env, const char *fmt, ...) LOUPE_PRINTF(2, 3);
/* The log's source line of insn, "; " prefixed. */
void vf_source_line(struct vf_env *env, int32_t insn_idx);
/* Notes what is not modelled; returns VF_NOT_JUDGED. */
int vf_not_judged(struct vf_env *env, const char *fmt, ...) LOUPE_PRINTF(2, 3);

/* kbtf.c: env->kernel_btf is there after 0; what needs it is not judged without. */
int vf_need_kernel_btf(struct vf_env *env);
/* The kernel's word for a kind of type. */
const char *vf_btf_kind_str(const struct btf_type *t);
/* A type's name as a message gives it. */
const char *vf_kernel_name(const struct vf_env *env, const struct btf_type *t);
/* The type behind typedefs, qualifiers and tags; NULL: void, or nothing that makes sense. */
const struct btf_type *vf_kernel_type(const struct vf_env *env, uint32_t id);

/* kstruct.c: a number lies at off of the kernel's structure id; 0 or the errno, with message. */
int vf_check_struct_access(struct vf_env *env, uint32_t id, uint32_t off, uint32_t size);

/* kfunc.c: id is a function of the kernel's that programs may call. */
bool vf_is_kfunc(const struct btf *btf, uint32_t id);
/* The kernel function that the call at insn_idx names can be called. */
int vf_add_kfunc(struct vf_env *env, const struct loupe_insn *insn, uint32_t insn_idx);
/* From here on calls of kernel functions matter; one that exists is not judged. */
int vf_check_kfuncs_modelled(struct vf_env *env);

/* ksym.c: the symbol that the ldimm64 at i names has an address. */
int vf_resolve_ksym(struct vf_env *env, uint32_t i);

/* --- slab.c ------------------------------------------------------------------------------- */

/* general: each block is malloc's, for comparing. */
struct vf_slabs *vf_slabs_create(uint64_t limit, bool general);
void vf_slabs_destroy(struct vf_slabs *slabs);
/* NULL when memory or the limit is exhausted. */
void *vf_alloc(struct vf_slabs *slabs, size_t size);
void *vf_zalloc(struct vf_slabs *slabs, size_t size);
void vf_free(struct vf_slabs *slabs, void *p, size_t size);

/* --- state.c: frames, stacks, branches, path history; refs.c ------------------------------ */

static inline struct loupe_frame *vf_cur_frame(struct vf_env *env)
{
	return env->cur->frame[env->cur->curframe];
}

static inline struct loupe_reg *vf_cur_regs(struct vf_env *env)
{
	return vf_cur_frame(env)->regs;
}

/* Frame that a PTR_TO_STACK register points into, for reading. */
static inline const struct loupe_frame *vf_reg_frame(struct vf_env *env,
						     const struct loupe_reg *reg)
{
	return env->cur->frame[reg->frameno];
}

/* The frame, made unshared. NULL when out of memory. */
struct loupe_frame *vf_frame_mut(struct vf_env *env, struct loupe_state *st, uint32_t frameno);
/* The slots of a frame's stack, made unshared (the frame too). NULL when out of memory; the frame
 * must have a stack. */
struct loupe_slot *vf_slots_mut(struct vf_env *env, struct loupe_state *st, uint32_t frameno);
/* Grows the frame's stack to cover bytes below fp (rounded up to 8); new slots are invalid. Raises
 * the subprog's stack depth too. */
int vf_stack_grow(struct vf_env *env, struct loupe_state *st, uint32_t frameno, int bytes);

/* Walks all registers, then the spilled registers, of all frames from frame 0 on. */
struct vf_reg_iter {
	struct vf_env *env;
	struct loupe_state *st;
	uint32_t frameno;
	int at;	      /* register number, or slot */
	bool is_slot; /* `at` is a slot */
};
void vf_reg_iter_init(struct vf_reg_iter *it, struct vf_env *env, struct loupe_state *st);
const struct loupe_reg *vf_reg_iter_next(struct vf_reg_iter *it);
/* The one visited last, for writing. NULL when out of memory. */
struct loupe_reg *vf_reg_iter_mut(struct vf_reg_iter *it);
/* What the one visited last holds is valid no more: an unknown number, or for users who may not see
 * addresses nothing. 0 or -ENOMEM. */
int vf_reg_iter_forget(struct vf_reg_iter *it);

/* Shares stacks and caller frames. What dst holds is overwritten; -ENOMEM ends the run. */
int vf_state_copy(struct vf_env *env, struct loupe_state *dst, const struct loupe_state *src);
void vf_state_release(struct vf_env *env, struct loupe_state *st);
/* Leaves the current state for later at insn_idx. Returns the pending state (its current frame's
 * registers may be written), or NULL with *err set. */
struct loupe_state *vf_push_branch(struct vf_env *env, int32_t insn_idx, int32_t prev_insn_idx,
				   bool speculative, int *err);
/* The same for a callback that runs later: frame 0 is a fresh frame of subprogno. */
struct loupe_state *vf_push_async(struct vf_env *env, int32_t insn_idx, int32_t prev_insn_idx,
				  uint32_t subprogno, bool sleepable, int *err);
/* The latest path left becomes the current state: 0, or -ENOENT if there is none. */
int vf_pop_branch(struct vf_env *env, int32_t *insn_idx, int32_t *prev_insn_idx);
/* Makes frame frameno of st a fresh frame of subprogno called from callsite. NULL: no memory. */
struct loupe_frame *vf_frame_init(struct vf_env *env, struct loupe_state *st, uint32_t frameno,
				  int32_t callsite, uint32_t subprogno);
void vf_frame_release(struct vf_env *env, struct loupe_frame *frame);

/* References: the new id (> 0) or negative errno. */
int vf_ref_acquire(struct vf_env *env, int32_t insn_idx);
/* Drops id from the state without touching registers: 0 or -EINVAL. */
int vf_ref_drop(struct loupe_state *st, uint32_t id);
/* Releases id and invalidates every register that holds it. */
int vf_ref_release(struct vf_env *env, uint32_t id);
bool vf_ref_find(const struct loupe_state *st, uint32_t id);
int vf_lock_acquire(struct vf_env *env, int32_t insn_idx, uint32_t type, uint32_t id, uint64_t ptr);
int vf_lock_release(struct loupe_state *st, uint32_t type, uint32_t id, uint64_t ptr);
/* Refuses held locks, references, … at an operation that prefix names ("BPF_EXIT instruction"). */
int vf_check_resource_leak(struct vf_env *env, bool exception_exit, bool check_lock,
			   const char *prefix);

/* Notes the present insn in the path's history: LOUPE_HIST_* flags, packed linked registers. */
int vf_hist_push(struct vf_env *env, struct loupe_state *st, uint32_t flags, uint64_t linked_regs);

/* --- regs.c: making registers ------------------------------------------------------------- */

static inline void vf_mark_scratched_reg(struct vf_env *env, uint32_t regno)
{
	env->scratched_regs |= 1u << regno;
}

static inline void vf_mark_scratched_slot(struct vf_env *env, uint32_t spi)
{
	env->scratched_slots |= 1ull << spi;
}

void vf_reg_not_init(const struct vf_env *env, struct loupe_reg *reg);
/* precise if not bpf_capable */
void vf_reg_unknown(const struct vf_env *env, struct loupe_reg *reg);
void vf_reg_unknown_imprecise(struct loupe_reg *reg);
/* The constant as a scalar: type, offset, union and ids are reset, precise stays. */
void vf_reg_known(struct loupe_reg *reg, uint64_t value);
/* The constant and nothing else, whatever was there. */
static inline void vf_reg_constant(struct loupe_reg *reg, uint64_t value)
{
	vf_reg_known(reg, value);
	reg->frameno = 0;
	reg->subreg_def = 0;
	reg->precise = false;
}
/* Only var_off and ranges become the constant; type and the rest stay. */
void vf_reg_known_value(struct loupe_reg *reg, uint64_t value);
void vf_reg_const_zero(const struct vf_env *env, struct loupe_reg *reg);
void vf_reg_unbounded(struct loupe_reg *reg); /* all ranges open; var_off stays */
/* R of the current frame. known_zero is for pointers: offset, union, ids and value go, the type
 * stays. */
void vf_mark_reg_unknown(struct vf_env *env, uint32_t regno);
void vf_mark_reg_known_zero(struct vf_env *env, uint32_t regno);
void vf_mark_reg_not_init(struct vf_env *env, uint32_t regno);
/* The register may be read, or will be written: 0 or the errno, with message. */
enum vf_reg_arg { VF_SRC_OP, VF_DST_OP, VF_DST_OP_NO_MARK };
int vf_check_reg_arg_slow(struct vf_env *env, uint32_t regno, enum vf_reg_arg kind);
static inline int vf_check_reg_arg(struct vf_env *env, uint32_t regno, enum vf_reg_arg kind)
{
	uint8_t code = env->insns[env->insn_idx].code;
	struct loupe_reg *reg;

	if (kind == VF_SRC_OP && regno < LOUPE_MAX_REG) {
		reg = &vf_cur_regs(env)[regno];
		if (reg->type != NOT_INIT && !reg->subreg_def) {
			vf_mark_scratched_reg(env, regno);
			return 0;
		}
	} else if (kind == VF_DST_OP_NO_MARK && regno < LOUPE_REG_FP &&
		   BPF_CLASS(code) == BPF_ALU64 && BPF_OP(code) != BPF_END) {
		vf_cur_regs(env)[regno].subreg_def = 0;
		vf_mark_scratched_reg(env, regno);
		return 0;
	}
	return vf_check_reg_arg_slow(env, regno, kind);
}

static inline bool vf_tnum_is_const(struct loupe_tnum t)
{
	return t.mask == 0;
}

static inline bool vf_reg_is_const(const struct loupe_reg *reg)
{
	return reg->type == SCALAR_VALUE && reg->var_off.mask == 0;
}

static inline bool vf_reg_is_null(const struct loupe_reg *reg)
{
	return vf_reg_is_const(reg) && reg->var_off.value == 0;
}

static inline uint32_t vf_new_id(struct vf_env *env)
{
	return ++env->id_gen;
}

/* The scalar is no longer linked with others. */
static inline void vf_clear_scalar_id(struct loupe_reg *reg)
{
	reg->id = 0;
	reg->off = 0;
}

/* --- range.c: deductions between tnum and the four ranges --------------------------------- */

void vf_bounds_sync(struct loupe_reg *reg);
/* Finds contradictory ranges after an operation that ctx names: repairs, or fails if configured. */
int vf_bounds_violated(struct vf_env *env, struct loupe_reg *reg, const char *ctx);
static inline int vf_bounds_sanity(struct vf_env *env, struct loupe_reg *reg, const char *ctx)
{
	const struct loupe_tnum t = reg->var_off;
	bool sane = reg->umin <= reg->umax && reg->smin <= reg->smax &&
		    reg->u32_min <= reg->u32_max && reg->s32_min <= reg->s32_max;

	if (sane && (uint32_t)t.mask) /* neither whole nor low half is one number */
		return 0;
	if (sane && reg->umin == reg->umax && reg->smin == reg->smax && !t.mask &&
	    reg->umin == t.value && reg->smin == (int64_t)t.value && reg->u32_min == reg->u32_max &&
	    reg->s32_min == reg->s32_max && reg->u32_min == (uint32_t)t.value &&
	    reg->s32_min == (int32_t)t.value)
		return 0;
	return vf_bounds_violated(env, reg, ctx);
}
void vf_zext_32(struct loupe_reg *reg);
void vf_coerce_size(struct loupe_reg *reg, int bytes);	  /* zero-extends from bytes */
void vf_coerce_size_sx(struct loupe_reg *reg, int bytes); /* sign-extends from bytes */
void vf_assign_32_into_64(struct loupe_reg *reg);

/* --- alu.c, ptr.c, branch.c --------------------------------------------------------------- */

int vf_check_alu(struct vf_env *env, const struct loupe_insn *insn);
/* dst op= src for two scalars. They are not the same register, unless there is but one operand. */
int vf_alu_scalar(struct vf_env *env, const struct loupe_insn *insn, struct loupe_reg *dst,
		  const struct loupe_reg *src);
/* ptr.c: dst = ptr op off. */
int vf_alu_pointer(struct vf_env *env, const struct loupe_insn *insn, const struct loupe_reg *ptr,
		   const struct loupe_reg *off);
int vf_check_cond_jmp(struct vf_env *env, const struct loupe_insn *insn, int32_t *insn_idx);
/* A maybe-null pointer is found not to be null; a looked-up inner map becomes a map pointer. */
void vf_mark_ptr_not_null(const struct vf_env *env, struct loupe_reg *reg);
/* Every copy of the maybe-null pointer in regno of the current frame of st becomes null or not. */
int vf_mark_ptr_or_null(struct vf_env *env, struct loupe_state *st, uint32_t regno, bool is_null);
/* Gives a scalar an id before it is copied. */
void vf_assign_scalar_id(struct vf_env *env, struct loupe_reg *src);

/* Packed linked registers of a history entry (branch.c writes, precise.c reads). */
struct vf_linked_regs {
	uint32_t cnt;
	struct {
		uint8_t frameno;
		uint8_t at; /* register number or slot */
		bool is_reg;
	} entry[VF_MAX_LINKED_REGS];
};
uint64_t vf_linked_pack(const struct vf_linked_regs *linked);
void vf_linked_unpack(uint64_t packed, struct vf_linked_regs *linked);

/* widen.c: nearest checkpoint before cur on the present path at insn_idx with cur's call chain. */
struct loupe_state *vf_find_prev_entry(struct vf_env *env, const struct loupe_state *cur,
				       int32_t insn_idx);
/* Forgets the imprecise scalars of queued that changed since prev, so that loops converge. */
int vf_widen_imprecise(struct vf_env *env, const struct loupe_state *prev,
		       struct loupe_state *queued);

/* --- mem.c, stack.c, ctx.c, packet.c ------------------------------------------------------ */

enum vf_access { VF_READ = 1, VF_WRITE = 2 };

int vf_check_load(struct vf_env *env, const struct loupe_insn *insn, bool strict_once,
		  bool sign_extend, bool allow_trust_mismatch, const char *ctx);
int vf_check_store_reg(struct vf_env *env, const struct loupe_insn *insn, bool strict_once);
int vf_check_store_imm(struct vf_env *env, const struct loupe_insn *insn);
int vf_check_atomic(struct vf_env *env, const struct loupe_insn *insn);
int vf_check_ld_imm64(struct vf_env *env, const struct loupe_insn *insn);
int vf_check_ld_abs(struct vf_env *env, const struct loupe_insn *insn);
/* Any memory access through register regno; bpf_size BPF_B … BPF_DW; value_regno -1: none. */
int vf_check_mem_access(struct vf_env *env, int32_t insn_idx, uint32_t regno, int off, int bpf_size,
			enum vf_access t, int value_regno, bool strict_once, bool is_ldsx);
int vf_stack_read(struct vf_env *env, uint32_t ptr_regno, int off, int size, int dst_regno);
int vf_stack_write(struct vf_env *env, uint32_t ptr_regno, int off, int size, int value_regno,
		   int32_t insn_idx);

/*
 * A helper fills bytes of the stack, which were found to be there: as many stores of a byte, for a
 * pointer that allows to do them at once.
 */
static inline bool vf_stack_fillable(const struct vf_env *env, const struct loupe_reg *ptr)
{
	return ptr->type == PTR_TO_STACK && ptr->var_off.mask == 0 && env->allow_ptr_leaks &&
	       env->bypass_spec_v4;
}
int vf_stack_fill(struct vf_env *env, uint32_t frameno, int off, int size, int32_t insn_idx);

static inline bool vf_slot_is_spill(const struct loupe_slot *slot)
{
	return slot->type[LOUPE_REG_SIZE - 1] == STACK_SPILL;
}

/* Bits of a frame's slots. */
static inline uint64_t vf_all_slots(const struct loupe_frame *frame)
{
	return frame->slot_cnt ? UINT64_MAX >> (LOUPE_MAX_SLOTS - frame->slot_cnt) : 0;
}

/* Those that may hold more than bytes of which nothing is known. */
static inline uint64_t vf_filled_slots(const struct loupe_state *st, uint32_t frameno)
{
	uint64_t all = vf_all_slots(st->frame[frameno]);

	return st->cleaned ? all & st->frame[frameno]->filled : all;
}

static inline bool vf_slot_is_spilled_scalar(const struct loupe_slot *slot)
{
	return vf_slot_is_spill(slot) && slot->spilled.type == SCALAR_VALUE;
}

/* Context access by program type. */
struct vf_ctx_access {
	uint32_t reg_type; /* what a read gives: SCALAR_VALUE, PTR_TO_PACKET, … */
	uint32_t ctx_field_size;
	bool is_ldsx;
	bool is_retval;
	bool unconvertible; /* the rewriting will fail at it */
	uint32_t btf_id;
	uint32_t ref_obj_id;
};
int vf_check_ctx_access(struct vf_env *env, int32_t insn_idx, int off, int size, enum vf_access t,
			struct vf_ctx_access *info);

/* --- call.c, func.c ----------------------------------------------------------------------- */

int vf_check_helper_call(struct vf_env *env, const struct loupe_insn *insn, int32_t *insn_idx);
int vf_check_func_call(struct vf_env *env, const struct loupe_insn *insn, int32_t *insn_idx);
/* BPF_EXIT of a callee: back in the caller at *insn_idx. */
int vf_func_return(struct vf_env *env, int32_t *insn_idx);
/* The value that the program, callback or global function ends with. */
int vf_check_return_value(struct vf_env *env, uint32_t regno, const char *reg_name);
/* Prepares frame 0's registers for exploring subprog (main: context; global: prototype). */
int vf_prepare_args(struct vf_env *env, uint32_t subprogno);
void vf_clear_caller_saved(struct vf_env *env, struct loupe_reg *regs);
/* All packet pointers of the current state become unusable. */
int vf_clear_pkt_pointers(struct vf_env *env);
/* Facts about calls for the phases before exploration; func ids are helper numbers. */
bool vf_helper_is_sync_callback(int32_t func_id);
bool vf_helper_is_async_callback(int32_t func_id);
bool vf_helper_changes_pkt_data(int32_t func_id);
bool vf_helper_might_sleep(const struct vf_env *env, int32_t func_id);
/* Number of arguments that a helper reads, -1 if unknown to this program type. */
int vf_helper_arg_cnt(const struct vf_env *env, int32_t func_id, bool *void_ret);
/* The helper keeps R1-R5 that it does not use and the JIT inlines it (fastcall). */
bool vf_helper_is_fastcall(const struct vf_env *env, int32_t func_id);

/* --- phases before exploration ------------------------------------------------------------ */

int vf_load_checks(struct vf_env *env);	      /* load.c: what bpf(2) refuses without a log */
int vf_add_subprogs(struct vf_env *env);      /* subprogs.c: finds functions, emits subprog */
int vf_check_subprogs(struct vf_env *env);    /* jumps stay inside; the last insn ends it */
int vf_check_btf_early(struct vf_env *env);   /* btfinfo.c */
int vf_check_btf_info(struct vf_env *env);
int vf_resolve_maps(struct vf_env *env);      /* resolve.c: ldimm64, reserved fields, maps */
int vf_check_cfg(struct vf_env *env);	      /* cfg.c: reachability, prune and jump points */
int vf_compute_postorder(struct vf_env *env); /* scc.c */
int vf_check_attach(struct vf_env *env);      /* attach.c: attach target, sleepable program types */
/* target.c: the attach target of a tracing program, a type of the kernel's. */
int vf_check_target(struct vf_env *env);
/* What the context of such a program has at off. False with a message of its own, if any. */
bool vf_target_access(struct vf_env *env, int off, int size, enum vf_access t,
		      struct vf_ctx_access *info);
int vf_compute_scc(struct vf_env *env);
int vf_compute_live_regs(struct vf_env *env); /* liveregs.c; emits facts */
int vf_mark_fastcall(struct vf_env *env);     /* fastcall.c */
/* A stack access at insn: does it spoil the fastcall patterns of the frame's function? */
void vf_fastcall_stack_access(struct vf_env *env, const struct loupe_frame *frame,
			      int32_t insn_idx, int off);
/* Successors of an insn within its function: count 0-2, fallthrough first. */
static inline uint32_t vf_insn_successors(const struct vf_env *env, uint32_t idx, uint32_t succ[2])
{
	const struct loupe_insn *insn = &env->insns[idx];
	uint8_t class = BPF_CLASS(insn->code), op = BPF_OP(insn->code);
	int32_t off = insn->code == (BPF_JMP32 | BPF_JA) ? insn->imm : insn->off;
	uint32_t cnt = 0;

	if (class != BPF_JMP && class != BPF_JMP32) {
		succ[0] = idx + (insn_is_ldimm64(insn) ? 2u : 1u);
		return 1;
	}
	if (op == BPF_EXIT)
		return 0;
	if (op != BPF_JA)
		succ[cnt++] = idx + 1;
	if (op != BPF_CALL && op != BPF_TAIL_CALL)
		succ[cnt++] = idx + (uint32_t)off + 1;
	return cnt;
}
uint32_t vf_find_containing_subprog(const struct vf_env *env, uint32_t idx);
/* Subprog that starts at insn idx, or -1. */
int vf_find_subprog(const struct vf_env *env, int32_t idx);
/* The insn is a call (helper or kfunc) that runs a callback at once / later. */
bool vf_insn_is_sync_callback(const struct loupe_insn *insn);
bool vf_insn_is_async_callback(const struct loupe_insn *insn);

/* --- livestack.c: stack slots that may be read later, per call chain ---------------------- */

int vf_livestack_init(struct vf_env *env);
void vf_livestack_reset_chain(struct vf_env *env); /* the current call chain changed */
int vf_livestack_read(struct vf_env *env, uint32_t frameno, uint32_t insn_idx, uint64_t mask);
int vf_livestack_reset_writes(struct vf_env *env, uint32_t insn_idx);
void vf_livestack_write(struct vf_env *env, uint32_t frameno, uint64_t mask);
int vf_livestack_commit_writes(struct vf_env *env);
int vf_livestack_update(struct vf_env *env);
int vf_livestack_query(struct vf_env *env, const struct loupe_state *st);
bool vf_livestack_alive(struct vf_env *env, uint32_t frameno, uint32_t spi);

/* --- exploration: explore.c, visit.c, equal.c, precise.c, loops.c ------------------------- */

/* The exploration of main or of one global function. */
int vf_explore_func(struct vf_env *env, uint32_t subprogno);
/* Emits the scratched parts of the current frame, if any, and cleans the set. */
void vf_emit_insn_state(struct vf_env *env);
/* 1: pruned, 0: go on, negative: error. */
int vf_state_visited(struct vf_env *env, int32_t insn_idx);
/* A path below st has ended. */
int vf_branch_done(struct vf_env *env, struct loupe_state *st);
struct vf_checkpoint **vf_bucket(struct vf_env *env, int32_t insn_idx);
void vf_checkpoints_drop(struct vf_env *env); /* at the end of a function's exploration */
/* diff: NULL when nobody asks for the first difference. differed: looked at first if so, and noted
 * for the next time; may be NULL. */
bool vf_states_equal(struct vf_env *env, const struct loupe_state *old,
		     const struct loupe_state *cur, enum loupe_compare_mode mode,
		     struct loupe_diff *diff, struct vf_differed *differed);
/* Registers equal in everything, ids by the mapping in env->idmap. */
bool vf_regs_exact(struct vf_env *env, const struct loupe_reg *old, const struct loupe_reg *cur);
/* Same functions called from the same places. */
bool vf_same_callsites(const struct loupe_state *a, const struct loupe_state *b);
int vf_walk_init(struct vf_env *env);
/* Demands the exact value of register regno of the current frame. */
int vf_mark_chain_precision(struct vf_env *env, uint32_t regno);
/* Runs the walk for what env->bt holds, from start on; *changed: a checkpoint got a new mark. */
int vf_backtrack_run(struct vf_env *env, struct loupe_state *start, bool *changed);
/* Gives up on walking: every scalar of every checkpoint before st is precise. */
int vf_force_all_precise(struct vf_env *env, struct loupe_state *st);
int vf_propagate_precision(struct vf_env *env, const struct loupe_state *old,
			   struct loupe_state *cur, bool *changed);
int vf_sccs_init(struct vf_env *env);
void vf_sccs_drop(struct vf_env *env); /* at the end of a function's exploration */
int vf_scc_enter(struct vf_env *env, struct loupe_state *st);
int vf_scc_exit(struct vf_env *env, struct loupe_state *st);
int vf_scc_add_backedge(struct vf_env *env, struct loupe_state *checkpoint, int32_t insn_idx);
/* The checkpoint's loop is still being explored: its marks may be incomplete. */
bool vf_scc_incomplete(struct vf_env *env, const struct loupe_state *st);
void vf_update_peak(struct vf_env *env);

/* --- phases after exploration ------------------------------------------------------------- */

int vf_check_stack_depth(struct vf_env *env); /* depth.c */
int vf_rewrite(struct vf_env *env);	      /* rewrite.c: dead code, context, helpers, limits */

#endif
