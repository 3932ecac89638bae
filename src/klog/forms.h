/* SPDX-License-Identifier: GPL-2.0-only */
/* The table of line forms (forms.def), and the writer that fills one in. */
#ifndef KLOG_FORMS_H
#define KLOG_FORMS_H

#include "bpfloupe/insn.h"
#include "klog/reg.h"

enum form_id {
#define FORM(name, levels, format, fields) FORM_##name,
#include "klog/forms.def"
#undef FORM
	FORM_CNT
};

struct form {
	const char *name;
	uint32_t levels;    /* LOUPE_LOG_* of which one must be on */
	const char *format; /* see forms.def */
	const char *fields; /* names of the format's conversions, separated by commas */
};

extern const struct form forms[FORM_CNT];

/* One value for a format, with the letter of its conversion. */
struct field {
	char conversion;
	union {
		int64_t number;
		const char *text;
		int32_t insn_idx;
		uint32_t regs;
		uint64_t slots;
		const struct loupe_chain *chain;
		struct {
			const struct loupe_state *state;
			uint32_t frameno;
			uint32_t regs; /* those to write */
			uint64_t slots;
		} frame;
	};
};

#define NUMBER(v) ((struct field){ .conversion = 'd', .number = (v) })
#define TEXT(v)	  ((struct field){ .conversion = 's', .text = (v) })
#define INSN(v)	  ((struct field){ .conversion = 'i', .insn_idx = (v) })
#define REGS(v)	  ((struct field){ .conversion = 'r', .regs = (v) })
#define SLOTS(v)  ((struct field){ .conversion = 'k', .slots = (v) })
#define CHAIN(v)  ((struct field){ .conversion = 'c', .chain = (v) })
#define LOOP(v)	  ((struct field){ .conversion = 'l', .chain = (v) })
#define FRAME(s, f, r, k)                   \
	((struct field){ .conversion = 'f', \
			 .frame = { .state = (s), .frameno = (f), .regs = (r), .slots = (k) } })
/* All of a frame. */
#define WHOLE(s, f) FRAME(s, f, ALL_REGS, ALL_SLOTS)

/* What instructions and registers are printed with. */
struct form_ctx {
	const struct loupe_image *image;
	struct loupe_names *names;
	struct loupe_insn_print_opts insn_opts;
};

/* Writes a form; fields are in the order of the format's conversions. */
void form_text(struct text *t, enum form_id id, const struct field *fields,
	       const struct form_ctx *ctx);

#endif
