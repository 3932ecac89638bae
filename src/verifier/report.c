// SPDX-License-Identifier: GPL-2.0-only
/* What the verifier says: text of the log, source lines, and what it cannot judge. */
#include <stdarg.h>
#include <stdio.h>

#include "verifier/vf.h"

static void say(struct vf_env *env, bool level2, const char *fmt, va_list args)
{
	char text[VF_TMP_MSG]; /* longer text is cut, as the kernel's */

	vsnprintf(text, sizeof(text), fmt, args);
	VF_EMIT(env, message, text, level2);
}

void vf_msg(struct vf_env *env, const char *fmt, ...)
{
	va_list args;

	if (!vf_listening(env))
		return;
	va_start(args, fmt);
	say(env, false, fmt, args);
	va_end(args);
}

void vf_msg2(struct vf_env *env, const char *fmt, ...)
{
	va_list args;

	if (!vf_listening(env))
		return;
	va_start(args, fmt);
	say(env, true, fmt, args);
	va_end(args);
}

void vf_source_line(struct vf_env *env, int32_t insn_idx)
{
	VF_EMIT(env, source_line, insn_idx);
}

int vf_not_judged(struct vf_env *env, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	vsnprintf(env->result->reason, sizeof(env->result->reason), fmt, args);
	va_end(args);
	return VF_NOT_JUDGED;
}
