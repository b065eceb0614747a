#!/bin/sh
# Runs every fuzz target, each for some seconds. What is found lands in BUILD/fuzz/findings, to
# be mended and then kept under tests/fuzz/inputs.
#
# usage: [PYTHON=…] tools/fuzz.sh BUILD SECONDS     (after make MODE=fuzz)
set -u
build=$(cd "${1:?usage: tools/fuzz.sh BUILD SECONDS}" && pwd) || exit 1
seconds=${2:-60}
cd "$(dirname "$0")/.." || exit 1
mkdir -p "$build/fuzz/findings"
failed=

for source in $(find tests -name "fuzz_*.c" | sort); do
    name=$(basename "$source" .c)
    # The rewriter's targets share their seeds and have a script of their own.
    case $name in fuzz_rewrite | fuzz_strip) continue ;; esac
    corpus=$build/fuzz/corpus/$name
    kept=tests/fuzz/inputs/$name
    mkdir -p "$corpus"
    [ -d "$kept" ] || kept=
    echo "== $name: $seconds seconds"
    "$build/fuzz/$name" -max_total_time="$seconds" -timeout=20 -rss_limit_mb=4096 \
        -verbosity=0 -print_final_stats=1 -artifact_prefix="$build/fuzz/findings/$name-" \
        "$corpus" ${kept:+"$kept"} || failed="$failed $name"
done
tests/fuzz/run.sh $((2 * seconds)) "$build" || failed="$failed rewriter"
if [ -n "$failed" ]; then
    echo "fuzz: there are findings in $build/fuzz/findings:$failed" >&2
    exit 1
fi
