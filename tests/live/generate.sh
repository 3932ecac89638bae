#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# usage: generate.sh BPFLOUPE
# The model equals the running kernel on random programs. 2,000 fixed ones must; 500 new ones are
# reported where they do not, shrunk and saved, without failing. Skips itself (77) without root and
# on another kernel than 6.18.
set -u
skip() {
	echo "skipped: $*"
	exit 77
}
bpfloupe=$1
[ "$(id -u)" = 0 ] || skip "comparing with the running kernel needs root"
case "$(uname -r)" in
6.18.*) ;;
*) skip "the model is Linux 6.18, this is $(uname -r)" ;;
esac
"$bpfloupe" parity --generate 500 --seed "$(date +%s)" -j 2 --save "${MESON_BUILD_ROOT:-.}" ||
	echo "new differences: tell of them, or add them to tests/golden"
"$bpfloupe" parity --generate 2000 --seed 1 -j 2 --save "${MESON_BUILD_ROOT:-.}"
