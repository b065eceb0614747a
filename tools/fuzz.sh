#!/bin/sh
# Runs each fuzz target for some seconds. Seeds are the golden sources and kept findings; what
# is found lands in BUILD/fuzz/findings, to be mended and then kept under tests/fuzz/inputs.
#
# usage: tools/fuzz.sh BUILD SECONDS
set -eu
build=$(cd "${1:?usage: tools/fuzz.sh BUILD SECONDS}" && pwd)
seconds=${2:-60}
cd "$(dirname "$0")/.."
mkdir -p "$build/fuzz/findings"
failed=

for source in tests/fuzz/*.c; do
    name=$(basename "$source" .c)
    corpus=$build/fuzz/corpus/$name
    seeds=$build/fuzz/seeds/$name
    mkdir -p "$corpus" "$seeds"
    # libFuzzer reads flat folders: each seed gets its path as its name.
    find tests/rewrite tests/fuzz/inputs samples -type f 2>/dev/null | while read -r seed; do
        cp "$seed" "$seeds/$(echo "$seed" | tr / _)"
    done
    echo "== $name: $seconds seconds"
    "$build/fuzz/$name" -max_total_time="$seconds" -timeout=20 -rss_limit_mb=4096 \
        -print_final_stats=1 -artifact_prefix="$build/fuzz/findings/$name-" \
        "$corpus" "$seeds" || failed="$failed $name"
done
if [ -n "$failed" ]; then
    echo "fuzz: findings of$failed are in $build/fuzz/findings" >&2
    exit 1
fi
