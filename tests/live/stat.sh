#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# usage: stat.sh BPFLOUPE PATTERN...
# Verdicts and counters in bpfloupe stat's CSV are the running kernel's. Skips itself as parity.sh.
set -u
skip() {
	echo "skipped: $*"
	exit 77
}
bpfloupe=$1
shift
[ "$(id -u)" = 0 ] || skip "comparing with the running kernel needs root"
case "$(uname -r)" in
6.18.*) ;;
*) skip "the model is Linux 6.18, this is $(uname -r)" ;;
esac
# shellcheck disable=SC2048,SC2086 # patterns
set -- $*
[ -e "$1" ] || skip "there is no $1"
ours=$("$bpfloupe" stat -o csv \
	-e file_name,prog_name,verdict,total_insns,total_states,peak_states,max_states_per_insn "$@" |
	grep -v ',unsupported,' | sed 1d)
kernels=$("$bpfloupe" parity -o csv "$@" 2>/dev/null | sed 1d | tr -d '"' | awk -F, '
	$3 == "not judged" || $4 == "not judged" { next }
	{ print $1 "," $2 "," ($4 == "accepted" ? "success" : "failure") "," $14 "," $15 "," $16 "," $17 }')
[ -n "$kernels" ] || {
	echo "the kernel judged no program"
	exit 1
}
[ "$ours" = "$kernels" ] || {
	echo "stat says:"
	echo "$ours"
	echo "the kernel says:"
	echo "$kernels"
	exit 1
}
case "$ours" in
*xdpfilt_alw_all*)
	echo "$ours" | grep -q ',xdpfilt_alw_all,success,81905,5608,360,' || {
		echo "xdpfilt_alw_all has 81905 instructions, 5608 states, 360 at peak"
		exit 1
	}
	;;
esac
echo "$ours" | wc -l | sed 's/$/ programs equal/'
