#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# usage: with_unprivileged.sh COMMAND ARG...
# Runs COMMAND while unprivileged bpf(2) is allowed, where root may allow it, and restores it after.
set -u
switch=/proc/sys/kernel/unprivileged_bpf_disabled
before=$(cat "$switch" 2>/dev/null || echo 0)
if [ "$before" != 0 ] && [ "$(id -u)" = 0 ]; then
	trap 'echo "$before" >"$switch"' EXIT
	trap 'exit 130' INT TERM
	echo 0 >"$switch" 2>/dev/null || {
		echo "skipped: unprivileged bpf(2) is disabled for good"
		exit 77
	}
fi
"$@"
