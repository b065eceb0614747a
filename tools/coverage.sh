#!/bin/sh
# Lists how much of each C file the tests reached, from what a MODE=coverage build counted.
#
# usage: tools/coverage.sh BUILD/obj/coverage
set -eu
objects=$(cd "${1:?usage: tools/coverage.sh FOLDER}" && pwd)
cd "$(dirname "$0")/.."
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

find "$objects/instrument" "$objects/runtime" -name '*.gcno' | while read -r notes; do
    gcov --no-output "$notes" 2>/dev/null
done | awk '
    /^File / { file = substr($2, 2, length($2) - 2) }
    /^Lines executed:/ && file ~ /^(instrument|runtime)\/.*\.c$/ {
        split($0, parts, /[:% ]+/)
        printf "%6.1f%% of %5d lines  %s\n", parts[3], parts[5], file
        file = ""
    }' | sort -k5 | uniq
