/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef REPORT_CFG_REPORT_INTERNAL_H
#define REPORT_CFG_REPORT_INTERNAL_H

#include "bpfloupe/cfg_report.h"

/* The report's layout, or one with defaults, which is also stored in *made to be destroyed. */
int report_layout(const struct loupe_cfg_report *report, const struct loupe_layout **layout,
		  struct loupe_layout **made);

#endif
