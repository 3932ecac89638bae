#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# usage: run.sh TARGET FOUND ARG...
# Runs a fuzz target in the directory FOUND, which keeps what it finds, with its seeds: those of
# corpus/NAME, and for the verifier the golden programs, which it assembles.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
target=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
found=$2
shift 2
name=$(basename "$target")
name=${name#fuzz_}
mkdir -p "$found"
if [ "$name" = verifier ]; then
	for golden in "$here"/../golden/*.bpfasm; do
		cp "$golden" "$found"
		# with room for edits
		{ cat "$golden" && printf '\0abcdefghijklmnop'; } >"$found/$(basename "$golden").edit"
	done
fi
cd "$found"
export UBSAN_OPTIONS="halt_on_error=1${UBSAN_OPTIONS:+:$UBSAN_OPTIONS}"
# libFuzzer adds to the first directory, which must not be the source's.
exec "$target" -max_len=65536 -entropic=0 "$@" . "$here/corpus/$name"
