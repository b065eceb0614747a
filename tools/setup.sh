#!/bin/sh
# Finds or makes an interpreter that has torch and all that tests/ imports, and writes its
# path to FILE. Does nothing where FILE names one that still has everything.
#
# usage: [PYTHON=…] tools/setup.sh FILE
set -eu

root=$(cd "$(dirname "$0")/.." && pwd)
result=${1:?usage: tools/setup.sh FILE}
python=${PYTHON:-python3}
environment=${VENV:-$root/.venv}
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
    has "$1" pytest hypothesis libcst pre_commit yaml
}

write_result() { # interpreter
    printf '%s\n' "$1" >"$result"
}

# The stamp holds what was installed: when the lists change, they are installed again.
wanted_stamp() {
    cat "$requirements" "$torch_requirements"
}

known=$(cat "$result" 2>/dev/null || true)
chosen=$("$python" -c 'import sys; print(sys.executable)' 2>/dev/null) || {
    say "$python does not run: install Python 3.10 or newer, or pass PYTHON=…"
    exit 1
}
stamp=$environment/monitorch-stamp
if [ -n "$known" ] && [ -x "$known" ]; then
    case $known in
    "$chosen") is_current=yes ;;
    "$environment"/*) [ "$(cat "$stamp" 2>/dev/null)" = "$chosen
$(wanted_stamp)" ] && is_current=yes || is_current= ;;
    *) is_current= ;;
    esac
    if [ -n "$is_current" ] && has_torch "$known" && has_tools "$known"; then
        exit 0
    fi
fi

if ! "$python" -c 'import sys; sys.exit(sys.version_info < (3, 10))'; then
    say "$chosen is older than Python 3.10: pass PYTHON=…"
    exit 1
fi
if has_torch "$chosen" && has_tools "$chosen"; then
    write_result "$chosen"
    exit 0
fi

if ! has "$chosen" venv ensurepip; then
    say "$chosen cannot make virtual environments: install python3-venv, or pass PYTHON=…"
    exit 1
fi
# An interpreter that has torch is used as it is; only the rest goes into the environment.
rm -f "$stamp"
if has_torch "$chosen"; then
    say "making $environment over $chosen, which has torch"
    "$chosen" -m venv --clear --system-site-packages "$environment"
    # `venv` leads past an environment to the Python below it, so name its packages.
    "$chosen" -c 'import sysconfig; print(sysconfig.get_path("purelib"))' >"$(
        "$environment/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))'
    )/monitorch-below.pth"
    set -- "$requirements"
else
    say "making $environment with torch from PyPI (a large download, once)"
    "$chosen" -m venv --clear "$environment"
    set -- "$requirements" "$torch_requirements"
fi
for list; do
    "$environment/bin/python" -m pip install --quiet --disable-pip-version-check \
        --requirement "$list" || {
        say "pip could not install $list; is there a network? Or pass PYTHON=… with all of it"
        exit 1
    }
done
{
    echo "$chosen"
    wanted_stamp
} >"$stamp"
write_result "$environment/bin/python"
say "ready: $environment/bin/python"
