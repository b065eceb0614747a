#!/bin/sh
# Fuzzes the rewriter and strip, seeded with the standard library, for SECONDS in all.
# Findings land in BUILD/fuzz/findings; mended ones are kept in tests/fuzz/inputs.
#
# usage: tests/fuzz/run.sh SECONDS [BUILD]     (after make MODE=fuzz)
set -eu
seconds=${1:?usage: tests/fuzz/run.sh SECONDS [BUILD]}
cd "$(dirname "$0")/../.."
build=${2:-build}
seeds=$build/fuzz/rewriter-seeds
command=$build/bin/monitorch-instrument
[ -x "$command" ] || command=
mkdir -p "$build/fuzz/findings"
"${PYTHON:-python3}" tests/fuzz/make_seeds.py "$seeds" ${command:+"$command"}
failed=

for name in fuzz_rewrite fuzz_strip; do
    share=$((seconds * 3 / 4))
    [ "$name" = fuzz_rewrite ] || share=$((seconds / 4))
    corpus=$build/fuzz/corpus/$name
    mkdir -p "$corpus"
    echo "== $name: $share seconds"
    # A finding ends libFuzzer: start again until the time is over.
    end=$(($(date +%s) + share))
    while left=$((end - $(date +%s))) && [ "$left" -gt 0 ]; do
        "$build/fuzz/$name" -max_total_time="$left" -timeout=20 -rss_limit_mb=4096 \
            -max_len=6000 -dict="$seeds/words.dict" -print_final_stats=1 -verbosity=0 \
            -artifact_prefix="$build/fuzz/findings/$name-" \
            "$corpus" "$seeds/plain" "$seeds/traced" || failed="$failed $name"
    done
done
if [ -n "$failed" ]; then
    echo "findings of$failed are in $build/fuzz/findings" >&2
    exit 1
fi
