/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Classic BPF filters: reading, checking, printing, optimizing, evaluating. A filter is a program
 * for struct sock_filter, either for seccomp (its input is struct seccomp_data, little-endian) or
 * for a socket (its input is a packet).
 */
#ifndef BPFLOUPE_FILTER_H
#define BPFLOUPE_FILTER_H

#include "common.h"
#include "rewrite.h"

#ifdef __cplusplus
extern "C" {
#endif

#define LOUPE_FILTER_MAX_INSNS 4096 /* BPF_MAXINSNS */

enum loupe_filter_flavour {
	LOUPE_FILTER_AUTO, /* only in options: seccomp where its rules allow the program */
	LOUPE_FILTER_SECCOMP,
	LOUPE_FILTER_SOCKET,
};

enum loupe_filter_format {
	LOUPE_FILTER_FORMAT_AUTO, /* only in options */
	LOUPE_FILTER_RAW,	  /* array of struct sock_filter, little-endian */
	LOUPE_FILTER_DDD, /* tcpdump -ddd: a line with the count, then "code jt jf k" lines */
	LOUPE_FILTER_C,	  /* C initializer: { 0x20, 0, 0, 4 }, BPF_STMT(), BPF_JUMP() */
};

struct loupe_filter {
	char *file;			   /* path of the input, "" if none */
	char *name;			   /* file's name without directories, for titles */
	enum loupe_filter_flavour flavour; /* never AUTO */
	enum loupe_filter_format format;   /* how it was written, never AUTO */
	struct loupe_cbpf_insn *insns;	   /* valid for the kernel */
	uint32_t cnt;
	uint32_t *lines; /* 1-based source line of each insn, NULL for raw bytes */
};

/* How to read a filter; zero-initialised means: find out. */
struct loupe_filter_load_opts {
	enum loupe_filter_flavour flavour;
	enum loupe_filter_format format;
};

/**
 * Reads a filter and checks that the kernel would take it.
 * @param path  shown in errors; read from when data is NULL ("-": standard input)
 * @param data  contents, or NULL
 * @param len   bytes of data
 * @param opts  may be NULL
 * @param out   receives the filter; free with loupe_filter_destroy()
 * @return 0; -EINVAL with position when it is not a valid filter; -ENOMEM; errno of reading
 */
LOUPE_API int loupe_filter_load(const char *path, const void *data, size_t len,
				const struct loupe_filter_load_opts *opts,
				struct loupe_filter **out, struct loupe_error *err);

/**
 * Makes a filter from instructions, checked like a loaded one.
 * @param name     copied
 * @param flavour  AUTO: found out
 */
LOUPE_API int loupe_filter_create(const char *name, const struct loupe_cbpf_insn *insns,
				  uint32_t cnt, enum loupe_filter_flavour flavour,
				  struct loupe_filter **out, struct loupe_error *err);

/** NULL is fine. */
LOUPE_API void loupe_filter_destroy(struct loupe_filter *filter);

/**
 * @return true when these bytes look like a filter in one of the formats (they may still be
 *         invalid): for telling a filter from other kinds of input file
 */
LOUPE_API bool loupe_filter_sniff(const void *data, size_t len);

/**
 * The kernel's rules for a classic program: length, opcodes, jumps, constants, scratch memory
 * written before it is read, a return at the end; seccomp's restrictions on top.
 * @param flavour  not AUTO
 * @param bad      receives the index of the offending instruction, may be NULL
 * @return 0, or -EINVAL with one line that names the instruction
 */
LOUPE_API int loupe_filter_check(const struct loupe_cbpf_insn *insns, uint32_t cnt,
				 enum loupe_filter_flavour flavour, uint32_t *bad,
				 struct loupe_error *err);

/* ---- what a load reads -------------------------------------------------------------------- */

enum loupe_filter_word {
	LOUPE_WORD_NONE,  /* the instruction is no load */
	LOUPE_WORD_NR,	  /* seccomp_data: system call number */
	LOUPE_WORD_ARCH,  /* AUDIT_ARCH_* */
	LOUPE_WORD_IP_LO, /* instruction pointer, low 32 bits */
	LOUPE_WORD_IP_HI,
	LOUPE_WORD_ARG_LO, /* low 32 bits of argument arg */
	LOUPE_WORD_ARG_HI,
	LOUPE_WORD_PACKET,     /* size bytes at offset */
	LOUPE_WORD_PACKET_IND, /* size bytes at X + offset */
	LOUPE_WORD_MSH,	       /* 4 * (byte at offset & 15), to X */
	LOUPE_WORD_ANCILLARY,  /* SKF_AD_* given in offset, relative to SKF_AD_OFF */
	LOUPE_WORD_LEN,	       /* length of the input */
	LOUPE_WORD_IMM,	       /* the constant offset */
	LOUPE_WORD_MEM,	       /* scratch memory M[offset] */
};

struct loupe_filter_read {
	enum loupe_filter_word word;
	uint8_t arg;	 /* 0-5 for ARG_LO and ARG_HI */
	uint8_t size;	 /* bytes read: 1, 2, 4 */
	bool to_x;	 /* into X instead of A */
	uint32_t offset; /* the instruction's k, see enum */
};

/** What insn loads; word is LOUPE_WORD_NONE for other instructions. */
LOUPE_API struct loupe_filter_read loupe_filter_read_of(enum loupe_filter_flavour flavour,
							struct loupe_cbpf_insn insn);

/** Writes "args[1].lo", "nr", "u16 packet[12]", "M[3]" ... as snprintf. */
LOUPE_API int loupe_filter_read_text(struct loupe_filter_read read, char *buf, size_t size);

/* ---- printing ----------------------------------------------------------------------------- */

enum loupe_filter_syntax {
	LOUPE_SYNTAX_ASM,   /* tcpdump -d: "jeq      #0x5401          jt 12\tjf 14" */
	LOUPE_SYNTAX_WORDS, /* "if A == 0x5401 goto 12 else 14", "A = args[1].lo", "return ALLOW" */
};

/**
 * Writes one instruction, without its number; jump targets are absolute indices.
 * @param index  place of insn in its program
 * @return length of the whole text, as snprintf
 */
LOUPE_API int loupe_filter_insn_text(enum loupe_filter_flavour flavour, struct loupe_cbpf_insn insn,
				     uint32_t index, enum loupe_filter_syntax syntax, char *buf,
				     size_t size);

/**
 * Writes what an instruction does without where it leads: "if A == 0x5401", "goto", "A = nr": for
 * blocks of a graph, whose edges show the rest.
 */
LOUPE_API int loupe_filter_insn_words(enum loupe_filter_flavour flavour,
				      struct loupe_cbpf_insn insn, char *buf, size_t size);

enum loupe_filter_emit_as {
	LOUPE_EMIT_DDD,
	LOUPE_EMIT_ASM,	  /* numbered lines as tcpdump -d prints */
	LOUPE_EMIT_WORDS, /* numbered lines in words */
	LOUPE_EMIT_C,
	LOUPE_EMIT_RAW,
	LOUPE_EMIT_STATS, /* before and after; the same program twice when there is no rewrite */
};

/** Name of a form as the command line spells it ("ddd", "asm", "words", "c", "raw", "stats"). */
LOUPE_API const char *loupe_filter_emit_name(enum loupe_filter_emit_as as);

/** @return the form, or -1 when there is none of that name */
LOUPE_API int loupe_filter_emit_by_name(const char *name);

/**
 * Writes a filter, or what a rewrite made of it.
 * @param rw   sealed rewrite of filter, or NULL: the filter itself
 * @param out  receives the text, NUL-terminated behind its last byte; the caller frees it
 * @param len  receives its length
 * @return 0, -EINVAL, -ENOMEM
 */
LOUPE_API int loupe_filter_emit(const struct loupe_filter *filter, const struct loupe_rewrite *rw,
				enum loupe_filter_emit_as as, char **out, size_t *len);

struct loupe_filter_stats {
	uint32_t insns;
	uint32_t loads;	   /* of input words: seccomp_data, packet, ancillary */
	uint32_t branches; /* conditional jumps */
	uint32_t jumps;	   /* unconditional */
	uint32_t returns;
	uint32_t blocks;  /* basic blocks that can be reached */
	uint32_t longest; /* executed instructions on the longest path */
};

/** Counts of a valid program. */
LOUPE_API struct loupe_filter_stats loupe_filter_stats_of(enum loupe_filter_flavour flavour,
							  const struct loupe_cbpf_insn *insns,
							  uint32_t cnt);

/* ---- proving ------------------------------------------------------------------------------ */

/* The layout of struct seccomp_data. */
struct loupe_seccomp_data {
	uint32_t nr;
	uint32_t arch; /* AUDIT_ARCH_* */
	uint64_t ip;
	uint64_t args[6];
};

enum loupe_proof_verdict {
	LOUPE_PROOF_PROVEN,  /* the same answer to every input */
	LOUPE_PROOF_TESTED,  /* the same answer to all inputs that were generated */
	LOUPE_PROOF_REFUTED, /* there is an input with different answers */
};

struct loupe_filter_proof {
	enum loupe_proof_verdict verdict;
	const char *why_not;	       /* tested: why it is not decided, static storage */
	const char *lower; /* of an optimized filter: why it is of a lower level than was asked for,
			      static storage, NULL: it is not */
	uint32_t inputs;	       /* tested: how many inputs */
	uint32_t nodes;		       /* nodes of decision diagrams that it took */
	struct loupe_seccomp_data data; /* refuted, seccomp: such an input */
	uint32_t before, after;	       /* refuted: the answers to it */
};

/**
 * Decides whether two filters answer the same to every input. Seccomp filters are decided, whatever
 * they do, unless they divide or shift by what depends on the input or need too much memory; these
 * and socket filters are tested on generated inputs.
 * @return 0, -EINVAL for filters of different flavours, -ENOMEM
 */
LOUPE_API int loupe_filter_prove(const struct loupe_filter *before,
				 const struct loupe_filter *after, struct loupe_filter_proof *out,
				 struct loupe_error *err);

/* ---- optimizing --------------------------------------------------------------------------- */

/* What a person may know about a pass. */
struct loupe_filter_pass {
	const char *name; /* as in --no-NAME */
	const char *what; /* one line */
};

/** The passes in the order in which they run. */
LOUPE_API const struct loupe_filter_pass *loupe_filter_passes(uint32_t *cnt);

/* One row of a table of calls and how often they are made. */
struct loupe_weight {
	char *name; /* what the table calls it, NULL: nothing */
	uint32_t nr;
	bool has_args; /* false: the row stands for calls with any arguments */
	uint64_t args[6];
	double weight; /* at least 0, in any unit */
};

struct loupe_weights {
	uint32_t arch; /* AUDIT_ARCH_* that the numbers are of */
	struct loupe_weight *rows;
	uint32_t cnt;
};

/**
 * Reads a table of calls: a line a call, columns separated by tabs or spaces. The first line, when
 * it starts with '#' and has a column weight and one of name and nr, names the columns: name, nr,
 * arg0 ... arg5, weight; others are ignored. Without it they are name and weight, or, where the
 * first row has nine or more, name, nr, six arguments, weight. Other lines that start with '#' are
 * comments.
 * @param path  shown in errors; read from when data is NULL ("-": standard input)
 * @param data  contents, or NULL
 * @param len   bytes of data
 * @param arch  AUDIT_ARCH_* whose names are meant
 * @param out   zeroed first; free with loupe_weights_finish()
 * @return 0; -EINVAL with the position; errno of reading; -ENOMEM
 */
LOUPE_API int loupe_weights_load(const char *path, const void *data, size_t len, uint32_t arch,
				 struct loupe_weights *out, struct loupe_error *err);

/** Frees what weights owns and zeroes it. */
LOUPE_API void loupe_weights_finish(struct loupe_weights *weights);

/* Zero-initialised means: everything on, instructions stay where they are. */
struct loupe_filter_opts {
	uint64_t off; /* bit n: pass n of loupe_filter_passes() does not run */
	/*
	 * 0: in place, and each edit by itself keeps the meaning; 1: by way of a graph, which keeps
	 * the filter's tests; 2: built anew from what it decides, where that is shorter, or costs
	 * less by weights; 3: also other orders of words and tests of bits are tried.
	 */
	uint32_t level;
	const struct loupe_weights *weights; /* for level 2 and 3; NULL: what the filter tests early
						is frequent */
};

/** Switches a pass off or on by name. @return 0, -ENOENT when there is none of that name */
LOUPE_API int loupe_filter_opts_set(struct loupe_filter_opts *opts, const char *pass, bool on);

/**
 * Runs the passes until none finds anything more.
 * @param opts  may be NULL
 * @param out   receives the sealed rewrite, free with loupe_rewrite_destroy() before filter; its
 *              program after is valid for the kernel
 */
LOUPE_API int loupe_filter_optimize(const struct loupe_filter *filter,
				    const struct loupe_filter_opts *opts,
				    struct loupe_rewrite **out, struct loupe_error *err);

/**
 * As loupe_filter_optimize(), and has the result judged; one that is not right is not used, but a
 * lower level's.
 * @param proof  receives the verdict on the result
 * @param level  receives the level that was used, may be NULL; proof->lower says why when it is
 *               lower than the one asked for
 */
LOUPE_API int loupe_filter_optimize_proven(const struct loupe_filter *filter,
					   const struct loupe_filter_opts *opts,
					   struct loupe_rewrite **out,
					   struct loupe_filter_proof *proof, uint32_t *level,
					   struct loupe_error *err);

/** Makes a filter of its own from the program after the first n edits of rw. */
LOUPE_API int loupe_filter_from_rewrite(const struct loupe_filter *filter,
					const struct loupe_rewrite *rw, uint32_t n,
					struct loupe_filter **out, struct loupe_error *err);

/**
 * The same for judging a step: jumps that only later edits bring near get others in between.
 * @return 0; -EINVAL when the kernel would not take the program (it is too long at this step);
 * -ENOMEM
 */
LOUPE_API int loupe_filter_at_edit(const struct loupe_filter *filter,
				   const struct loupe_rewrite *rw, uint32_t n,
				   struct loupe_filter **out, struct loupe_error *err);

/* ---- evaluating --------------------------------------------------------------------------- */

struct loupe_filter_input {
	const void *data; /* struct loupe_seccomp_data, or a packet from its link layer header on */
	size_t len;	  /* 64 for seccomp */
	uint32_t net_off; /* packet: where the network header starts, for SKF_NET_OFF */
	const uint32_t *ancillary; /* packet: value of each SKF_AD_* by offset / 4 (16 of them),
				      NULL: unknown */
};

struct loupe_filter_run {
	uint32_t result;   /* what the filter returned */
	uint32_t executed; /* instructions, the return included */
	uint32_t loads;	   /* of input words among them */
	bool out_of_input; /* a load beyond the packet, or division by X = 0, ended the run with 0
			    */
	uint32_t *path;	   /* executed indices in order, executed of them */
};

/**
 * Runs a filter on one input.
 * @param run  path may be NULL, or point to room for filter->cnt indices; everything else is filled
 * @return 0, -EINVAL when the input's length is wrong, -ENOTSUP (with the reason) when the filter
 *         reads ancillary data that the input does not give
 */
LOUPE_API int loupe_filter_eval(const struct loupe_filter *filter,
				const struct loupe_filter_input *input,
				struct loupe_filter_run *run, struct loupe_error *err);

/**
 * Whether the kernel, since Linux 5.11, knows from installing the filter that it allows this call
 * whatever its arguments: such a call never runs the filter.
 * @param arch  AUDIT_ARCH_*
 */
LOUPE_API bool loupe_seccomp_is_cached(const struct loupe_filter *filter, uint32_t arch,
				       uint32_t nr);

/** Name of an x86-64 system call, NULL if unknown. */
LOUPE_API const char *loupe_syscall_name(uint32_t arch, uint32_t nr);

/** Number of a system call, or -1. @param arch AUDIT_ARCH_* */
LOUPE_API int32_t loupe_syscall_nr(uint32_t arch, const char *name);

/** Writes a seccomp return value: "ALLOW", "ERRNO(1)", "KILL_PROCESS", "0x12345678"; as snprintf.
 */
LOUPE_API int loupe_seccomp_action_text(uint32_t ret, char *buf, size_t size);

#ifdef __cplusplus
}
#endif

#endif
