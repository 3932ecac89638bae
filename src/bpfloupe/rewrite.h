/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Rewrite: a program before and after, the instruction map between them, and the edits that lead
 * from one to the other, each with its reason. The filter optimizer makes them for classic
 * programs, removal of dead code after verification makes them for eBPF.
 *
 * Every instruction has an *id* that it keeps while it moves: 0 .. before_cnt - 1 are the
 * instructions of the program before, by index; higher ids are instructions that an edit inserted.
 * An id is never used twice. Jump targets are ids too, so that no edit has to renumber anything.
 * The program after the first N edits, and its maps, are made by replaying N edits, for any N.
 */
#ifndef BPFLOUPE_REWRITE_H
#define BPFLOUPE_REWRITE_H

#include "common.h"
#include "image.h"

#ifdef __cplusplus
extern "C" {
#endif

/* No such instruction. */
#define LOUPE_NONE UINT32_MAX

/* One classic instruction, the layout of struct sock_filter. */
struct loupe_cbpf_insn {
	uint16_t code;
	uint8_t jt, jf; /* insns to skip when true, when false */
	uint32_t k;
};

enum loupe_rewrite_kind {
	LOUPE_REWRITE_EBPF,
	LOUPE_REWRITE_CBPF,
};

/* Which member is valid follows from the rewrite's kind. */
union loupe_rewrite_insn {
	struct loupe_insn ebpf;
	struct loupe_cbpf_insn cbpf;
};

/* What an edit does to the instructions that it names. */
enum loupe_edit_kind {
	/* Taken out; who jumped here now reaches the instruction that followed, or into. */
	LOUPE_EDIT_REMOVED,
	LOUPE_EDIT_RETARGETED, /* one edge of a jump leads elsewhere */
	LOUPE_EDIT_MOVED,      /* same instruction, another place in the order */
	LOUPE_EDIT_REPLACED,   /* same place, other instruction */
	LOUPE_EDIT_INSERTED,   /* new */
};

/* A way out of an instruction. */
enum loupe_way {
	LOUPE_WAY_FALL,	 /* to the next instruction in order */
	LOUPE_WAY_JUMP,	 /* an unconditional jump; eBPF: a call or function reference too */
	LOUPE_WAY_TRUE,	 /* a conditional jump's condition holds */
	LOUPE_WAY_FALSE, /* it does not; in eBPF always the next instruction */
};

/*
 * A row of a producer's table of reasons. The text is a sentence fragment in which each
 * placeholder takes the edit's next argument:
 *   %i  an instruction's id, shown as its number in the program before ("62", "new 3")
 *   %e  enum loupe_way, shown as "falls through", "jump", "true", "false"
 *   %d  an instruction's id, shown as what that instruction does, in the producer's words
 *   %u  unsigned decimal      %x  0x and hexadecimal      %%  a percent sign
 */
struct loupe_reason {
	const char *name; /* short and stable, for filtering and tests: "only-way-here" */
	const char *text;
};

#define LOUPE_REASON_ARGS 6

/* One edit. Fields that its kind does not use are LOUPE_NONE or zero. */
struct loupe_edit {
	const char *pass;		   /* name of the pass, static storage */
	const struct loupe_reason *reason; /* static storage */
	uint32_t args[LOUPE_REASON_ARGS];  /* what the reason's placeholders show */
	enum loupe_edit_kind kind;
	uint32_t id;	/* first instruction affected (inserted: its new id) */
	uint32_t cnt;	/* how many, consecutive in the order at that moment; more than 1 only for
			   removed and moved */
	uint32_t where; /* inserted, moved: they now stand before this id, LOUPE_NONE: at the end */
	uint32_t into;	/* removed (cnt 1): another one that does the same and gets its jumps, else
			   LOUPE_NONE */
	enum loupe_way way;	       /* retargeted: which way out */
	uint32_t jt;		       /* retargeted: new target; replaced, inserted: see below */
	uint32_t jf;		       /* replaced, inserted: target when false (classic only) */
	union loupe_rewrite_insn insn; /* replaced, inserted: the instruction, jump offsets ignored;
					  jt is the target of a jump (when true, if conditional) */
};

/* The program after some number of edits. */
struct loupe_rewrite_prog {
	uint32_t edits; /* how many edits were applied */
	uint32_t cnt;
	union loupe_rewrite_insn *insns; /* with jump offsets filled in, see encodable */
	uint32_t *ids;			 /* index -> id */
	uint32_t *jt; /* index -> index of the jump's (true) target, LOUPE_NONE if it is no jump */
	uint32_t *jf; /* index -> index of the false target of a classic conditional jump,
			 LOUPE_NONE otherwise */
	uint32_t id_cnt;
	uint32_t *index_of; /* id -> index, LOUPE_NONE when removed or not yet inserted */
	bool encodable;	    /* every offset fits its field; where one does not the field holds its
			       largest value, and jt and jf tell the truth. The first and the last
			       program are always encodable */
};

struct loupe_rewrite;

/**
 * Starts a rewrite of a classic program.
 * @param insns  copied; every jump must stay inside the program
 * @return NULL with errno EINVAL (no instruction, jump out of range) or ENOMEM. Free with
 *         loupe_rewrite_destroy()
 */
LOUPE_API struct loupe_rewrite *loupe_rewrite_create_cbpf(const struct loupe_cbpf_insn *insns,
							  uint32_t cnt);

/** As loupe_rewrite_create_cbpf(), for eBPF; both slots of an ldimm64 have an id. */
LOUPE_API struct loupe_rewrite *loupe_rewrite_create_ebpf(const struct loupe_insn *insns,
							  uint32_t cnt);

/** Frees it and the programs that loupe_rewrite_before() and _after() returned. NULL is fine. */
LOUPE_API void loupe_rewrite_destroy(struct loupe_rewrite *rw);

/**
 * Sets how %d of a reason is written. Without it %d is written as %i.
 * @param describe  writes what insn does, as snprintf; arg is the pointer given here
 */
LOUPE_API void loupe_rewrite_set_describe(struct loupe_rewrite *rw,
					  int (*describe)(const void *arg,
							  union loupe_rewrite_insn insn, char *buf,
							  size_t size),
					  const void *arg);

/**
 * Applies an edit to the newest program and records it. Only before loupe_rewrite_seal().
 * @param edit  copied; for LOUPE_EDIT_INSERTED id is ignored and given out here
 * @return 0, or the new id in *id where id is not NULL; -EINVAL when it names an instruction that
 *         is not there or an edge that the instruction does not have, or after sealing; -ENOMEM
 */
LOUPE_API int loupe_rewrite_edit(struct loupe_rewrite *rw, const struct loupe_edit *edit,
				 uint32_t *id);

/**
 * Ends recording and makes the program after.
 * @return 0, -ERANGE when a jump does not fit its field, -EINVAL when it is sealed already or
 *         nothing is left, -ENOMEM
 */
LOUPE_API int loupe_rewrite_seal(struct loupe_rewrite *rw);

LOUPE_API enum loupe_rewrite_kind loupe_rewrite_kind(const struct loupe_rewrite *rw);

/** The program before all edits; owned by the rewrite. */
LOUPE_API const struct loupe_rewrite_prog *loupe_rewrite_before(const struct loupe_rewrite *rw);

/** The program after all edits; owned by the rewrite; NULL before loupe_rewrite_seal(). */
LOUPE_API const struct loupe_rewrite_prog *loupe_rewrite_after(const struct loupe_rewrite *rw);

/** How many edits there are. */
LOUPE_API uint32_t loupe_rewrite_edit_cnt(const struct loupe_rewrite *rw);

/** Edit n, 0-based; NULL when there is none. Valid until the next edit or destruction. */
LOUPE_API const struct loupe_edit *loupe_rewrite_edit_get(const struct loupe_rewrite *rw,
							  uint32_t n);

/**
 * Writes the ids that edit n affects, at most max of them; more than one where edit->cnt says so.
 * @return how many there are
 */
LOUPE_API uint32_t loupe_rewrite_edit_ids(const struct loupe_rewrite *rw, uint32_t n, uint32_t *ids,
					  uint32_t max);

/**
 * Writes why edit n was made, e.g. "the only way here is 62 (false); A still holds args[1].lo,
 * loaded at 61", always NUL-terminated.
 * @return length of the whole text, as snprintf; -EINVAL when there is no edit n
 */
LOUPE_API int loupe_rewrite_reason(const struct loupe_rewrite *rw, uint32_t n, char *buf,
				   size_t size);

/**
 * Writes what edit n did and why as one line, e.g. "64 removed: the only way here is ...".
 * @return as loupe_rewrite_reason()
 */
LOUPE_API int loupe_rewrite_edit_line(const struct loupe_rewrite *rw, uint32_t n, char *buf,
				      size_t size);

/**
 * Makes the program after the first n edits (0: before; edit count: after). Works before sealing
 * too. Takes time linear in n plus the program's length.
 * @param out  filled; the caller frees it with loupe_rewrite_prog_finish()
 * @return 0, -EINVAL when there are fewer edits, -ENOMEM
 */
LOUPE_API int loupe_rewrite_prog_at(const struct loupe_rewrite *rw, uint32_t n,
				    struct loupe_rewrite_prog *out);

/** Frees what prog owns and zeroes it. */
LOUPE_API void loupe_rewrite_prog_finish(struct loupe_rewrite_prog *prog);

/** @return index after all edits of the instruction with this index before, or -1 if it is gone */
LOUPE_API int64_t loupe_rewrite_after_of(const struct loupe_rewrite *rw, uint32_t before);

/** @return index before of the instruction with this index after all edits, or -1 if it is new */
LOUPE_API int64_t loupe_rewrite_before_of(const struct loupe_rewrite *rw, uint32_t after);

/**
 * The edit that took an instruction away.
 * @param before  index in the program before
 * @return edit number, or -1 if it is still there
 */
LOUPE_API int64_t loupe_rewrite_removed_by(const struct loupe_rewrite *rw, uint32_t before);

/** Word for an edit kind: "removed", "retargeted", "moved", "replaced", "inserted". */
LOUPE_API const char *loupe_edit_kind_name(enum loupe_edit_kind kind);

#ifdef __cplusplus
}
#endif

#endif
