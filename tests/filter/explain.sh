#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# usage: explain.sh BPFLOUPE FOLDER    what is said of a published filter's largest rule, on one screen
set -u
program=$1 folder=$2
[ -f "$folder/nvproxy.policy" ] || exit 77
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
failed=0

# explain FILTER BEFORE: the loads of args[1] that ioctl gets to
explain() {
	"$program" optimize "$folder/$1" --policy "$folder/nvproxy.policy" --explain=ioctl:1 >"$dir/out" || failed=1
	grep -Eq "^#   args\[1\]\.lo +$2 +1\$" "$dir/out" || { echo "$1: not from $2 loads to 1"; failed=1; }
	[ "$(wc -l <"$dir/out")" -le 45 ] || { echo "$1: $(wc -l <"$dir/out") lines"; failed=1; }
	# each of them with its rule, what A holds, ways, why it stays and what would let it go
	awk '/^[0-9]+: / { if (n && seen != 31) exit 1; n++; seen = 0 }
		/^    for nvproxy.policy:17, ioctl/ { seen += seen % 2 ? 0 : 1 }
		/^    A h(olds|eld) / && !(int(seen / 2) % 2) { seen += 2 }
		/^        from [0-9]+ (true|false)/ && !(int(seen / 4) % 2) { seen += 4 }
		/^    stays: / && !(int(seen / 8) % 2) { seen += 8 }
		/^    would go / && !(int(seen / 16) % 2) { seen += 16 }
		END { exit n == 2 && seen == 31 ? 0 : 1 }' "$dir/out" || { echo "$1: a load is not explained"; failed=1; }
	[ $failed = 0 ] || cat "$dir/out"
}

explain nvproxy.generated.txt 45
explain nvproxy.policy 1
exit $failed
