#!/bin/sh
# How long a newcomer waits on a bare Debian: from a clone to the first verdict. Each line of output gets the
# seconds since the start, so that one sees what is download, what compiling, and what the program.
#
# usage: tests/newcomer/stopwatch.sh [pip|demo|demo-torch]…        (all of them where none is named)
#
#   pip          install the packages that README names, `pip install .`, record a program, ask why
#   demo         `make demo`, torch not there
#   demo-torch   `make demo`, torch in the environment
#
# Runs as root: debootstrap makes the Debian, once, in $STOPWATCH_FOLDER (default /tmp/monitorch-stopwatch).
# $STOPWATCH_BIND names folders of this machine that the Debian is to see, such as those of PIP_FIND_LINKS.
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
folder=${STOPWATCH_FOLDER:-/tmp/monitorch-stopwatch}
mirror=${DEBIAN_MIRROR:-http://deb.debian.org/debian}
[ $# -gt 0 ] || set -- pip demo demo-torch

say() {
    echo "stopwatch: $*"
}

seconds() {
    date +%s.%N
}

# Each line with the seconds since $started.
stamp() {
    while IFS= read -r line; do
        printf '%6.1f  %s\n' "$(echo "$(seconds) - $started" | bc)" "$line"
    done
}

inside() { # words…
    # shellcheck disable=SC2086 # a list of words
    chroot "$tree" env -i PATH=/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin HOME=/root LANG=C.UTF-8 $kept "$@"
}

make_debian() {
    if [ ! -f "$folder/base/.complete" ]; then
        say "making a bare Debian in $folder/base"
        mkdir -p "$folder/base"
        debootstrap --variant=minbase bookworm "$folder/base" "$mirror" >"$folder/debootstrap.log"
        touch "$folder/base/.complete"
    fi
}

# A copy of the bare Debian, with this tree as a clone, and the machine's ways to packages.
begin() {
    tree=$folder/run
    rm -rf --one-file-system "$tree"
    cp -a "$folder/base" "$tree"
    mkdir -p "$tree/root/monitorch"
    (cd "$root" && git ls-files -z | xargs -0 tar -cf - --ignore-failed-read) | tar -xf - -C "$tree/root/monitorch"
    for file in /etc/resolv.conf /etc/pip.conf /root/.config/pip/pip.conf; do
        [ ! -f "$file" ] || { mkdir -p "$tree$(dirname "$file")" && cp -L "$file" "$tree$file"; }
    done
    sed -i '/^cert *=/d' "$tree/etc/pip.conf" "$tree/root/.config/pip/pip.conf" 2>/dev/null || true
    # The certificates that this machine trusts, where no package of the Debian writes.
    [ -z "${SSL_CERT_FILE:-}" ] || cp -L "$SSL_CERT_FILE" "$tree/root/certificates"
    mount -t proc proc "$tree/proc"
    mount --bind /dev "$tree/dev"
    for bound in ${STOPWATCH_BIND:-}; do
        mkdir -p "$tree$bound"
        mount --bind "$bound" "$tree$bound"
    done
}

finish() {
    for bound in ${STOPWATCH_BIND:-} /dev /proc; do
        umount "${tree:-/none}$bound" 2>/dev/null || true
    done
}
trap finish EXIT
trap 'exit 130' HUP INT TERM

# Words of the environment that say how packages are reached.
kept=$(env | sed -n 's/^\(PIP_[A-Z_]*\|[A-Za-z]*_[Pp][Rr][Oo][Xx][Yy]\)=\([^ ]*\)$/\1=\2/p' | grep -v '^PIP_CERT=' | tr '\n' ' ')
[ -z "${SSL_CERT_FILE:-}" ] || kept="$kept SSL_CERT_FILE=/root/certificates PIP_CERT=/root/certificates"
system='gcc libc6-dev make python3-dev python3-venv pkg-config libcairo2-dev libpango1.0-dev libsqlite3-dev'

program() {
    cat <<'PROGRAM'
def share(counts):
    total = sum(counts)
    mean = total / len(counts)
    return [count / mean * float("1e308") - float("inf") for count in counts]

def main():
    parts = share([3.0, 4.0])
    difference = parts[0] - parts[1]
    return difference

main()
PROGRAM
}

by_pip() {
    echo "== apt-get install $system"
    inside sh -c "apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $system >/dev/null 2>&1"
    echo "== python3 -m venv, pip install ."
    inside sh -c 'python3 -m venv /root/env && cd /root/monitorch && /root/env/bin/pip install -q .'
    echo "== monitorch run, monitorch why"
    program >"$tree/root/first.py"
    inside sh -c '. /root/env/bin/activate && cd /root && monitorch run -q -o run.mtrace first.py; monitorch why run.mtrace' || true
}

by_demo() {
    echo "== make demo"
    # make itself, and what would have made the clone.
    inside sh -c 'command -v make >/dev/null || { apt-get update -qq && apt-get install -y -qq --no-install-recommends make >/dev/null 2>&1; }'
    inside sh -c "cd /root/monitorch && make demo $1"
}

# torch and what it needs, before the clock starts.
have_torch() {
    inside sh -c 'apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends python3-venv >/dev/null 2>&1
        python3 -m venv /root/env && /root/env/bin/pip install -q -r /root/monitorch/tools/requirements-torch.txt'
}

make_debian
for way; do
    begin
    case $way in
    pip) set -- by_pip ;;
    demo) set -- by_demo '' ;;
    demo-torch)
        say 'installing torch, which does not count'
        have_torch
        set -- by_demo PYTHON=/root/env/bin/python
        ;;
    *)
        echo "stopwatch: $way: expected pip, demo or demo-torch" >&2
        exit 2
        ;;
    esac
    say "$way"
    started=$(seconds)
    "$@" 2>&1 | stamp
    say "$way took $(echo "$(seconds) - $started" | bc | cut -d. -f1) s"
    finish
done
