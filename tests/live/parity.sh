#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# usage: parity.sh BPFLOUPE PATTERN...
# The model equals the running kernel on every program of the files that match: verdict, errno,
# counters, and the logs at levels 6 and 1. Skips itself (77) without root, without files, and on
# another kernel than 6.18.
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
"$bpfloupe" parity -j 2 "$@"
status=$?
# 3: some program was not judged by one of the two, which is no difference.
[ $status = 3 ] && exit 0
exit $status
