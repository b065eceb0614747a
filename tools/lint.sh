#!/bin/sh
# Checks layout, sizes and common mistakes, changes nothing. Arguments: the C files.
# A checker that is not installed is named, not silently left out.
set -u
cd "$(dirname "$0")/.." || exit 1
PATH=$PWD/.venv/bin:$PWD/.venv-tools/bin:$PATH
failed=0

run() { # program arguments…
    if ! command -v "$1" >/dev/null 2>&1; then
        echo "lint: $1 is not installed, left out (tools/requirements.txt has it)" >&2
        return
    fi
    "$@" || failed=1
}

run "${CLANG_FORMAT:-clang-format}" --dry-run -Werror "$@"
run shellcheck tools/*.sh .ci/run
run ruff check --quiet .
run python3 tools/sizes.py
exit $failed
