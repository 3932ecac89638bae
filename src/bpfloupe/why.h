/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Why each instruction of a filter is there: which calls get to it, on which ways, what A holds on
 * each, and which rules of the policy it serves. All of this is found out from the finished
 * program, by following each call through it, so that it holds whatever compiler and optimizer made
 * it, and for filters that were never compiled from a policy at hand.
 */
#ifndef BPFLOUPE_WHY_H
#define BPFLOUPE_WHY_H

#include "filter.h"
#include "policy.h"
#include "rewrite.h"

#ifdef __cplusplus
extern "C" {
#endif

enum loupe_callers_kind {
	LOUPE_CALLERS_CALL,   /* one system call: arch, nr */
	LOUPE_CALLERS_OTHER,  /* of arch: all numbers that are no class of their own */
	LOUPE_CALLERS_X32,    /* of arch: numbers from __X32_SYSCALL_BIT on */
	LOUPE_CALLERS_ARCH,   /* calls of all other architectures */
	LOUPE_CALLERS_PACKET, /* the only class of a socket filter */
};

/* A class of inputs: who runs the filter. */
struct loupe_callers {
	enum loupe_callers_kind kind;
	uint32_t arch; /* AUDIT_ARCH_* */
	uint32_t nr;
};

enum loupe_hold_kind {
	LOUPE_HOLD_START,   /* 0, as when the filter starts */
	LOUPE_HOLD_WORD,    /* what the load `at` gives */
	LOUPE_HOLD_CHANGED, /* made by the instruction `at`, from the word that `base` loads */
	LOUPE_HOLD_MIXED,   /* not the same on all ways */
};

/* What a register holds. */
struct loupe_hold {
	enum loupe_hold_kind kind;
	uint32_t at;	 /* index */
	uint32_t base;	 /* index of a load, LOUPE_NONE: unknown */
	uint32_t lo, hi; /* what was asked before leaves these values */
};

#define LOUPE_WHY_WORDS 16u /* of struct seccomp_data */

/* A way to an instruction, with one content of the registers. */
struct loupe_arrival {
	uint32_t from;	    /* instruction it comes from, LOUPE_NONE: the filter's start */
	enum loupe_way way; /* of from */
	struct loupe_hold a, x;
	const uint64_t *callers; /* bit n: class n comes this way */
	uint32_t caller_cnt;
	uint32_t lo[LOUPE_WHY_WORDS], hi[LOUPE_WHY_WORDS]; /* what the words can be, seccomp only */
	const uint32_t *path; /* one way from the start to here, this instruction not included */
	uint32_t path_cnt;
};

struct loupe_why;

/**
 * Follows all calls through a filter.
 * @param filter  must outlive the result
 * @param policy  whose rules are named, NULL: none; must outlive the result
 * @param arch    AUDIT_ARCH_* of the calls of a filter that looks at no architecture
 * @param out     free with loupe_why_destroy()
 * @return 0, -ENOMEM
 */
LOUPE_API int loupe_why_create(const struct loupe_filter *filter, const struct loupe_policy *policy,
			       uint32_t arch, struct loupe_why **out, struct loupe_error *err);

/** NULL is fine. */
LOUPE_API void loupe_why_destroy(struct loupe_why *why);

LOUPE_API const struct loupe_filter *loupe_why_filter(const struct loupe_why *why);
LOUPE_API const struct loupe_policy *loupe_why_policy(const struct loupe_why *why);

/** The classes; calls come first, by architecture and number. */
LOUPE_API const struct loupe_callers *loupe_why_callers(const struct loupe_why *why, uint32_t *cnt);

/** The class of a call, -1 if it has none of its own. */
LOUPE_API int64_t loupe_why_callers_of(const struct loupe_why *why, uint32_t arch, uint32_t nr);

/** Writes "ioctl", "other calls", "other architectures" ... as snprintf. */
LOUPE_API int loupe_callers_text(struct loupe_callers callers, char *buf, size_t size);

/**
 * Writes a rule's conditions: "args[0] == 0x1 && args[1] & 0x7 == 0x2", "always"; as snprintf.
 */
LOUPE_API int loupe_policy_rule_text(const struct loupe_policy_rule *rule, char *buf, size_t size);

/** Writes "ioctl(0, 0x5401)", without arguments that are 0 at the end; as snprintf. */
LOUPE_API int loupe_seccomp_call_text(const struct loupe_seccomp_data *call, char *buf,
				      size_t size);

/** Whether a class may get to an instruction. */
LOUPE_API bool loupe_why_reaches(const struct loupe_why *why, uint32_t callers, uint32_t insn);

/**
 * The instruction of another program that asks the same of the same calls, or of most of them: for
 * showing programs side by side of which one was built anew.
 * @return its index, LOUPE_NONE: nothing there asks that
 */
LOUPE_API uint32_t loupe_why_partner(const struct loupe_why *why, uint32_t insn,
				     const struct loupe_why *other);

/**
 * Writes the lines of the policy that an instruction serves: "app.policy:17 (ioctl), :25 (fcntl)";
 * as snprintf. Nothing where it serves none in particular.
 */
LOUPE_API int loupe_why_rules_text(const struct loupe_why *why, uint32_t insn, char *buf,
				   size_t size);

/** The ways to an instruction; none: nothing leads there. */
LOUPE_API const struct loupe_arrival *loupe_why_arrivals(const struct loupe_why *why, uint32_t insn,
							 uint32_t *cnt);

/** Whether an instruction serves a rule, by the rule's index in the policy. */
LOUPE_API bool loupe_why_serves(const struct loupe_why *why, uint32_t insn, uint32_t rule);

/** Rules that an instruction serves. @param first  receives the index of the first; may be NULL */
LOUPE_API uint32_t loupe_why_rule_cnt(const struct loupe_why *why, uint32_t insn, uint32_t *first);

/* What of a filter is there for some rules or callers. */
struct loupe_why_share {
	uint32_t insns;
	uint32_t loads; /* of input words, among them */
};

/** What serves a rule. */
LOUPE_API struct loupe_why_share loupe_why_rule_share(const struct loupe_why *why, uint32_t rule);

/** What serves the rules of a line of the policy. @param file  index in its files */
LOUPE_API struct loupe_why_share loupe_why_line_share(const struct loupe_why *why, uint32_t file,
						      uint32_t line);

/** Whether an instruction serves a rule of a line. */
LOUPE_API bool loupe_why_serves_line(const struct loupe_why *why, uint32_t insn, uint32_t file,
				     uint32_t line);

/**
 * Two calls that get to a comparison, on one way, and differ only in the word that it looks at: one
 * is sent one way, the other one the other way, and they get different answers. So the comparison
 * cannot go.
 * @return false when none was found: the filter is not seccomp's, or computes with the word
 */
LOUPE_API bool loupe_why_witness(const struct loupe_why *why, uint32_t insn,
				 struct loupe_seccomp_data call[2], uint32_t answer[2]);

/* What to explain; zero-initialised: everything. */
struct loupe_why_select {
	bool by_call; /* only what this call gets to, and its rules */
	uint32_t arch, nr;
	bool by_arg; /* only loads of this argument, 0-5 */
	uint32_t arg;
	uint32_t line;	/* only what serves a rule of this line of the policy's own file, 0: all */
	uint32_t level; /* of the optimizer, for advice; 0: unknown */
};

/**
 * Explains one instruction: lines of text, the first one without indentation.
 * @param id  what it was called before, LOUPE_NONE: it is new, or that does not matter
 * @param out  receives the text, the caller frees it
 */
LOUPE_API int loupe_why_insn_text(const struct loupe_why *why, uint32_t insn, uint32_t id,
				  const struct loupe_why_select *select, char **out, size_t *len);

/**
 * Writes the loads of each word before and after, and for each load and comparison of the result
 * the rules, the ways and what A holds, why it could not go and what would let it go. With rw and
 * nothing selected, the edits and their reasons before that.
 * @param before, after  explanations of the program before and of the result
 * @param rw             rewrite from one to the other, may be NULL
 * @param select         may be NULL
 * @param out            receives the text, NUL-terminated; the caller frees it
 */
LOUPE_API int loupe_why_text(const struct loupe_why *before, const struct loupe_why *after,
			     const struct loupe_rewrite *rw, const struct loupe_why_select *select,
			     char **out, size_t *len);

/**
 * Writes the result as JSON: its instructions with what they do, who gets there and which rules
 * they serve, counts before and after, edits.
 * @param proof  may be NULL
 */
LOUPE_API int loupe_why_json(const struct loupe_why *before, const struct loupe_why *after,
			     const struct loupe_rewrite *rw, const struct loupe_filter_proof *proof,
			     char **out, size_t *len);

#ifdef __cplusplus
}
#endif

#endif
