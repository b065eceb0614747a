#!/bin/sh
# What a newcomer does, on a machine that has the compiler, make, Python and the package clients, and nothing of
# ours: a bare tree and an empty home; then the same once more without network.
#
# usage: tests/newcomer/run.sh [TARGET…]     (make's; demo and test where none is named)
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
scratch=$(mktemp -d "${TMPDIR:-/tmp}/newcomer.XXXXXX")
trap 'rm -rf "$scratch"' EXIT
trap 'exit 130' HUP INT TERM
[ $# -gt 0 ] || set -- demo test

say() {
    echo "newcomer: $*"
}

# A bare tree: what git knows, or, in an unpacked sdist, all but what was built.
mkdir -p "$scratch/tree" "$scratch/home"
(
    cd "$root"
    if [ -e .git ] && command -v git >/dev/null 2>&1; then
        git ls-files -z --cached --others --exclude-standard | xargs -0 tar -cf - --ignore-failed-read
    else
        tar -cf - --exclude ./build --exclude './.venv*' .
    fi
) | tar -xf - -C "$scratch/tree"

# How packages are reached is the machine's, all else of the environment is not.
kept=$(env | sed -n 's/^\(PIP_[A-Z_]*\|[Nn][Pp][Mm]_[A-Za-z_]*\|[A-Za-z]*_[Pp][Rr][Oo][Xx][Yy]\|SSL_CERT_FILE\|REQUESTS_CA_BUNDLE\|NODE_EXTRA_CA_CERTS\)=.*/\1/p' | tr '\n' ' ')
clean() { # command words…
    (
        cd "$scratch/tree"
        for name in $(env | sed -n 's/^\([A-Za-z_][A-Za-z_0-9]*\)=.*/\1/p'); do
            case " PATH PYTHON CI $kept " in
            *" $name "*) ;;
            *) unset "$name" 2>/dev/null || true ;;
            esac
        done
        HOME=$scratch/home LANG=C.UTF-8 exec "$@"
    )
}

run() { # what, command words…
    what=$1
    shift
    started=$(date +%s)
    say "$what: make $target"
    clean "$@" make "$target" ${PYTHON:+PYTHON="$PYTHON"}
    say "$what: make $target took $(($(date +%s) - started)) s"
}

for target; do
    run 'first' env
done

if command -v unshare >/dev/null 2>&1 && unshare --net --map-root-user true 2>/dev/null; then
    rm -rf "$scratch/tree/build"
    for target; do
        run 'without network' unshare --net --map-root-user \
            "${PYTHON:-python3}" "$root/tests/newcomer/loopback.py"
    done
else
    say 'the network cannot be taken away here: the second run is left out'
fi
say 'done'
