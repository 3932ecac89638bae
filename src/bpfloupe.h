/* SPDX-License-Identifier: GPL-2.0-only */
/* libbpfloupe: the whole public API. Each header below also compiles alone. */
#ifndef BPFLOUPE_H
#define BPFLOUPE_H

#include "bpfloupe/asm.h"
#include "bpfloupe/canvas.h"
#include "bpfloupe/cfg.h"
#include "bpfloupe/cfg_report.h"
#include "bpfloupe/common.h"
#include "bpfloupe/filter.h"
#include "bpfloupe/generate.h"
#include "bpfloupe/image.h"
#include "bpfloupe/insn.h"
#include "bpfloupe/kernel.h"
#include "bpfloupe/load.h"
#include "bpfloupe/layout.h"
#include "bpfloupe/log.h"
#include "bpfloupe/log_read.h"
#include "bpfloupe/policy.h"
#include "bpfloupe/rewrite.h"
#include "bpfloupe/source.h"
#include "bpfloupe/state.h"
#include "bpfloupe/trace.h"
#include "bpfloupe/tree.h"
#include "bpfloupe/verify.h"
#include "bpfloupe/why.h"

#endif
