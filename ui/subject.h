/* SPDX-License-Identifier: GPL-2.0-only */
/* A subject: one program or filter that can be explored, and what is known about it so far. */
#ifndef BPFLOUPE_UI_SUBJECT_H
#define BPFLOUPE_UI_SUBJECT_H

#include "bpfloupe/log.h"
#include "bpfloupe/source.h"
#include "bpfloupe/trace.h"
#include "beside.h"
#include "bpfloupe/why.h"
#include "finding.h"
#include "input.h"
#include "jobs.h"

enum subject_state {
	SUBJECT_NOT_LOADED, /* no image; prog->reason says why */
	SUBJECT_NEW,	    /* nothing was done yet */
	SUBJECT_WORKING,    /* being verified, or waiting for that */
	SUBJECT_READY,	    /* a verdict is there; or a filter's rewrite */
	SUBJECT_STOPPED,    /* the user stopped it */
	SUBJECT_FAILED,	    /* it could not be done; error says why */
};

/* The running kernel's opinion, if the user asked for it. */
enum subject_kernel {
	KERNEL_NOT_ASKED,
	KERNEL_ASKED, /* being asked */
	KERNEL_AGREES,
	KERNEL_DIFFERS,
	KERNEL_ANSWERED,  /* where the model has no verdict */
	KERNEL_NO_ANSWER, /* it cannot be asked */
};

struct subject {
	const struct input *input;
	const struct loupe_program *prog; /* NULL for a filter */
	const struct loupe_image *image;  /* NULL for a filter, and if it did not load */
	const struct loupe_filter *filter;
	const struct loupe_logged *beside_log; /* a kernel's log to compare with, NULL: none */
	const char *beside_path;
	const struct loupe_logged *logged; /* the log that it is read from, NULL if it is
					      verified */
	enum subject_state state;
	struct subject *other;	/* that it is compared with, NULL: none */
	bool is_b;		/* of two that are compared it is the second */
	const struct loupe_verify_opts *own_rules; /* NULL: those of the command line */
	char rules[100];	/* in words, "" where they are the same for all */

	/* programs, when READY */
	struct loupe_verify_result result; /* stays when the trace is dropped */
	char error[1024];		   /* rejected: the message that explains it, one line */
	int32_t error_insn;		   /* -1 if it is about no insn */
	struct loupe_trace *trace;	   /* NULL when it was dropped: verify again to have one */
	struct beside_result *beside;	   /* NULL: there is no log beside it */
	struct loupe_source *source;
	struct loupe_names *names;
	struct findings findings; /* stay when the trace is dropped */
	enum subject_kernel kernel;

	/* filters */
	struct loupe_filter_opts passes; /* how it is optimized; weights are the input's */
	/* when READY */
	struct loupe_rewrite *rewrite;
	struct loupe_filter_proof proof;
	uint32_t level;		     /* that was used */
	struct loupe_filter *optimized; /* the filter after all edits */
	struct loupe_why *why[2];    /* of the filter before, of the result */
};

/** Makes a subject of an entry of an input; n is 0 for filters. */
void subject_init(struct subject *subject, const struct input *input, uint32_t n);

/** Frees what was found out about it. */
void subject_finish(struct subject *subject);

/** Its name: the program's, or the filter's file. */
const char *subject_name(const struct subject *subject);

/** Its kind in a word: program type, "seccomp filter", "socket filter". */
const char *subject_type(const struct subject *subject);

/** Instruction slots. */
uint32_t subject_insn_cnt(const struct subject *subject);

/** Frees the trace of a program whose verdict stays known. */
void subject_drop_trace(struct subject *subject);

/**
 * A job that verifies a program or optimizes a filter. Its done tells the owner.
 * @param opts  knobs of the verifier
 * @param done  called in the UI's thread with data, after the subject was filled in
 * @return NULL when out of memory; it frees itself when done
 */
struct job *subject_job(struct subject *subject, const struct loupe_verify_opts *opts,
			void (*done)(void *data, struct subject *subject), void *data);

#endif
