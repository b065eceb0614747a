#!/bin/sh
# Installs what the build needs from the system's packages, where it is missing and where
# that is possible (Debian, Ubuntu, as root); else says what to install.
#
# usage: [PYTHON=…] tools/setup_system.sh [--demo]     (--demo: not what only the tests need)
set -eu
is_demo=${1:-}

missing=
need() { # package command
    command -v "$2" >/dev/null 2>&1 || missing="$missing $1"
}

need gcc gcc
need make make
if [ "$is_demo" != --demo ]; then
    need g++ g++ # of torch.compile
    need git git
fi
need pkg-config pkg-config
pkg-config --exists pangocairo 2>/dev/null || missing="$missing libcairo2-dev libpango1.0-dev"
echo '#include <sqlite3.h>' | gcc -E - >/dev/null 2>&1 || missing="$missing libsqlite3-dev"
need python3 python3
python=${PYTHON:-python3}
if ! command -v "$python" >/dev/null 2>&1; then
    missing="$missing python3-dev python3-venv"
    [ "$is_demo" = --demo ] || missing="$missing python3-pip"
else
    "$(dirname "$0")/python_headers.sh" "$python" >/dev/null 2>&1 ||
        missing="$missing python3-dev"
    "$python" -c 'import venv, ensurepip' >/dev/null 2>&1 || missing="$missing python3-venv"
    [ "$is_demo" = --demo ] || "$python" -m pip --version >/dev/null 2>&1 || missing="$missing python3-pip"
fi
echo '#include <stdio.h>' | gcc -E - >/dev/null 2>&1 || missing="$missing libc6-dev"
[ -z "$missing" ] && exit 0

if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
    echo "setup: installing the system's packages$missing (up to 200 MB with what they need, once)" >&2
    log=$(mktemp)
    # shellcheck disable=SC2086 # a list of words
    if ! { apt-get update -qq && DEBIAN_FRONTEND=noninteractive \
        apt-get install -y -qq --no-install-recommends $missing; } >"$log" 2>&1; then
        cat "$log" >&2
        exit 1
    fi
    rm -f "$log"
else
    echo "setup: please install these packages (their names on Debian):$missing" >&2
    exit 1
fi
