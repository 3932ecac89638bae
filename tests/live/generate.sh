#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# usage: generate.sh BPFLOUPE FIXED NEW [OPTION...]
# The model equals the running kernel on random programs. FIXED ones must, from seed 1; NEW ones are
# reported where they do not, shrunk and saved, without failing. Skips itself (77) without root and
# on another kernel than 6.18.
set -u
skip() {
	echo "skipped: $*"
	exit 77
}
bpfloupe=$1 fixed=$2 new=$3
shift 3
[ "$(id -u)" = 0 ] || skip "comparing with the running kernel needs root"
case "$(uname -r)" in
6.18.*) ;;
*) skip "the model is Linux 6.18, this is $(uname -r)" ;;
esac
"$bpfloupe" parity --generate "$new" "$@" --seed "$(date +%s)" -j 2 --save "${MESON_BUILD_ROOT:-.}" ||
	echo "new differences: tell of them, or add them to tests/golden"
"$bpfloupe" parity --generate "$fixed" "$@" --seed 1 -j 2 --save "${MESON_BUILD_ROOT:-.}"
