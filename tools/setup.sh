#!/bin/sh
# Finds or makes an interpreter that has torch and all that tests/ imports, and writes its
# path to FILE. Quick where nothing is missing. With --torch-alone the tests' packages may be missing.
#
# usage: [PYTHON=…] tools/setup.sh [--torch-alone] FILE
set -eu

root=$(cd "$(dirname "$0")/.." && pwd)
needs_tools=yes
if [ "${1:-}" = --torch-alone ]; then
    needs_tools=
    shift
fi
result=${1:?usage: tools/setup.sh [--torch-alone] FILE}
python=${PYTHON:-python3}
requirements=$root/tools/requirements.txt
torch_requirements=$root/tools/requirements-torch.txt

say() {
    echo "setup: $*" >&2
}

has() { # interpreter module…
    "$1" - "$@" <<'CHECK' >/dev/null 2>&1
import importlib.util, sys
sys.exit(any(importlib.util.find_spec(name) is None for name in sys.argv[2:]))
CHECK
}

has_torch() {
    has "$1" torch numpy
}

has_tools() {
    [ -z "$needs_tools" ] || has "$1" pytest h5py hypothesis ipykernel libcst nbclient pandas pre_commit tensorboard xdist yaml
}

use() { # interpreter
    printf '%s\n' "$1" >"$result"
    exit 0
}

# Runs at the same time, from several terminals, wait for each other.
if command -v flock >/dev/null 2>&1; then
    exec 9>"$root/.venv.lock"
    flock 9
fi
chosen=$("$python" -c 'import sys; print(sys.executable)' 2>/dev/null) || {
    say "$python does not run: install Python 3.10 or newer, or pass PYTHON=…"
    exit 1
}
if ! "$chosen" -c 'import sys; sys.exit(sys.version_info < (3, 10))'; then
    say "$chosen is older than Python 3.10: pass PYTHON=…"
    exit 1
fi
# An interpreter that has torch is used as it is; only the rest goes into an environment.
if has_torch "$chosen"; then
    if has_tools "$chosen"; then
        use "$chosen"
    fi
    environment=$root/.venv-tools
    set -- "$requirements"
else
    environment=$root/.venv
    set -- "$torch_requirements"
    [ -z "$needs_tools" ] || set -- "$requirements" "$torch_requirements"
fi
# The stamp holds what was installed, over what: when that changes, it is installed again.
stamp=$environment/monitorch-stamp
wanted=$(echo "$chosen" | cat - "$@")
made=$environment/bin/python
if has_torch "$made" && has_tools "$made" && {
    [ -z "$needs_tools" ] || [ "$(cat "$stamp" 2>/dev/null)" = "$wanted" ]
}; then
    use "$made"
fi

if ! has "$chosen" venv ensurepip; then
    say "$chosen cannot make virtual environments: install python3-venv, or pass PYTHON=…"
    exit 1
fi
rm -f "$stamp"
if [ "$environment" != "$root/.venv" ]; then
    say "downloading the tests' packages into $environment, over $chosen, which has torch (about 100 MB, once)"
    "$chosen" -m venv --clear --system-site-packages "$environment"
    # `venv` leads past an environment to the Python below it, so name its packages.
    "$chosen" -c 'import sysconfig; print(sysconfig.get_path("purelib"))' >"$(
        "$made" -c 'import sysconfig; print(sysconfig.get_path("purelib"))'
    )/monitorch-below.pth"
else
    if has_torch "$made"; then
        say "downloading the tests' packages into $environment (about 100 MB, once)"
    else
        say "$chosen has no torch: downloading it into $environment (200 MB for CPUs; up to 3 GB where PyPI's" \
            "build is for CUDA; once). PYTHON=… names an interpreter that has torch"
        "$chosen" -m venv --clear "$environment"
    fi
fi
for list; do
    "$made" -m pip install --quiet --disable-pip-version-check --requirement "$list" || {
        say "pip could not install $list; is there a network? Or pass PYTHON=… with all of it"
        exit 1
    }
done
echo "$wanted" >"$stamp"
say "ready: $made"
use "$made"
