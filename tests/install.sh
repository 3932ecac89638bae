#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# usage: install.sh MESON BUILD-DIR PREFIX CC...: what gets installed works where it was put: the program
# finds its loader, an outside program compiles and links against the library through pkg-config.
set -eu
meson=$1 build=$2 prefix=$3
shift 3
cc=$*
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

fail() {
	echo "$*"
	exit 1
}

DESTDIR=$work/dest "$meson" install -C "$build" --no-rebuild --quiet
root=$work/dest$prefix
for file in bin/bpfloupe include/bpfloupe.h share/man/man1/bpfloupe.1 \
	share/bash-completion/completions/bpfloupe share/bpfloupe/filters/worker.c \
	share/bpfloupe/samples/prune-at-join.bpf.o share/bpfloupe/lessons/1-hits.lesson; do
	[ -s "$root/$file" ] || fail "$file is not installed"
done

cd "$work"
"$root/bin/bpfloupe" "$root/share/bpfloupe/samples/prune-at-join.bpf.o" >summary ||
	fail "the installed program ends with $?"
grep -q '  accepted' summary || fail "the installed program does not judge: $(cat summary)"

"$root/bin/bpfloupe" --lesson 1 >lesson || fail "the installed program finds no lessons"
grep -q 'pruned' lesson || fail "the installed lesson says: $(cat lesson)"

# --help and the man page come from the same table: every option is in both.
for command in '' verify stat disasm cfg compile optimize eval bench lab parity; do
	# shellcheck disable=SC2086 # none is the explorer
	"$root/bin/bpfloupe" $command --help
done | sed -n 's/^  \(-[-a-z]*\) .*/\1/p' | sort -u >options
[ "$(wc -l <options)" -gt 40 ] || fail "--help names $(wc -l <options) options"
sed 's/\\-/-/g' "$root/share/man/man1/bpfloupe.1" >page
while read -r option; do
	grep -q "^\.BI $option\(\\\\\|$\)" page || fail "the man page lacks $option"
done <options

if command -v groff >/dev/null; then
	said=$(groff -man -ww -z "$root/share/man/man1/bpfloupe.1" 2>&1)
	[ -z "$said" ] || fail "the man page: $said"
fi
if command -v bash >/dev/null; then
	# shellcheck disable=SC2016 # for the other shell
	said=$(bash -c '. "$1"; COMP_WORDS=(bpfloupe ver); COMP_CWORD=1; _bpfloupe; echo "${COMPREPLY[@]}"' \
		- "$root/share/bash-completion/completions/bpfloupe")
	[ "$said" = verify ] || fail "ver<Tab> completes to '$said'"
fi

cat >outside.c <<'END'
#include <bpfloupe.h>
#include <stdio.h>

int main(void)
{
	struct loupe_verify_opts opts;

	loupe_verify_opts_init(&opts);
	printf("evict when misses > hits * %d + %d\n", opts.evict_n, opts.evict_n);
	return 0;
}
END
PKG_CONFIG_PATH=$(dirname "$(find "$root" -name bpfloupe.pc)")
export PKG_CONFIG_PATH PKG_CONFIG_SYSROOT_DIR="$work/dest"
libdir=$(pkg-config --variable=libdir bpfloupe)
[ -d "$libdir" ] || libdir=$work/dest$libdir
# shellcheck disable=SC2046,SC2086 # lists of words
$cc -Wall -Werror outside.c -o outside $(pkg-config --cflags --libs bpfloupe)
said=$(LD_LIBRARY_PATH=$libdir ./outside) || fail "the program outside ends with $?"
[ "$said" = "evict when misses > hits * 3 + 3" ] || fail "the program outside says: $said"
# Nothing but the public interface is visible.
nm -D --defined-only "$libdir/libbpfloupe.so" | awk '{ print $3 }' | grep -v '^loupe_' >other || true
[ ! -s other ] || fail "visible outside: $(head -5 other)"
echo "installed $(find "$root" -type f | wc -l) files below $prefix, loaded, compiled and linked against them"
