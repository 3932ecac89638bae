#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# usage: profile.sh PROFILE: passes on a kernel that is configured as the profile says. Skipped, 77, on
# any other, telling the differences: parity is claimed with the profile's kernel only.
set -eu
profile=$1
release=$(sed -n 's/^release //p' "$profile")
machine=$(sed -n 's/^machine //p' "$profile")
running=$(uname -r)

case $running in
"$release" | "$release"-*) ;;
*)
	echo "the running kernel is $running, not $release"
	exit 77
	;;
esac
[ "$(uname -m)" = "$machine" ] || exit 77

config=$(mktemp)
trap 'rm -f "$config"' EXIT
{ zcat /proc/config.gz || cat "/boot/config-$running"; } >"$config" 2>/dev/null || {
	echo "the running kernel does not tell its configuration"
	exit 77
}

status=0
differs() {
	echo "differs from $(basename "$(dirname "$profile")")/profile: $*"
	status=77
}

while read -r kind name value; do
	case $kind in
	config)
		case $value in
		'') grep -qx "$name" "$config" || differs "$name" ;;
		*) grep -q "^$name=" "$config" && differs "$name $value" ;;
		esac
		;;
	sysctl)
		file=/proc/sys/$(echo "$name" | tr . /)
		[ ! -r "$file" ] || [ "$(cat "$file")" = "$value" ] || differs "$name is $(cat "$file"), not $value"
		;;
	esac
done <"$profile"
exit $status
