#!/bin/sh
# Builds a wheel that runs on old systems: with this machine's compiler, against the C library of Debian 11
# (glibc 2.31), which debootstrap fetches. For another machine than this one it uses a cross compiler.
#
# usage: tools/manylinux.sh x86_64|aarch64 [FOLDER]     (FOLDER gets the wheel: build/dist)
#
# Needs debootstrap, dpkg, and for another machine gcc-MACHINE-linux-gnu. cairo and pango are not in this
# wheel: PNG and PDF need the machine's own.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
machine=${1:?usage: tools/manylinux.sh x86_64|aarch64 [FOLDER]}
folder=${2:-$root/build/dist}
suite=bullseye
mirror=${DEBIAN_MIRROR:-http://deb.debian.org/debian}
python=${PYTHON:-python3}
build=$root/build/manylinux

case $machine in
x86_64) architecture=amd64 ;;
aarch64) architecture=arm64 ;;
*)
    echo "manylinux: $machine: expected x86_64 or aarch64" >&2
    exit 2
    ;;
esac
prefix=
[ "$(uname -m)" = "$machine" ] || prefix=$machine-linux-gnu-
for program in debootstrap dpkg "${prefix}gcc" "${prefix}strip"; do
    command -v "$program" >/dev/null || {
        echo "manylinux: $program is missing: apt-get install debootstrap${prefix:+ gcc-$machine-linux-gnu}" >&2
        exit 1
    }
done

# The C library and SQLite with their headers, unpacked: nothing of it is run.
sysroot=$build/sysroot-$architecture
if [ ! -f "$sysroot/.complete" ]; then
    echo "manylinux: fetching $suite's C library for $architecture (about 60 MB, once)" >&2
    packages=$build/packages-$architecture
    rm -rf "$sysroot" "$packages"
    mkdir -p "$sysroot" "$packages"
    debootstrap --download-only --arch="$architecture" --variant=minbase \
        --include=libc6-dev,libsqlite3-dev,zlib1g-dev "$suite" "$packages" "$mirror" >"$build/debootstrap.log" 2>&1 || {
        tail -n 5 "$build/debootstrap.log" >&2
        exit 1
    }
    for package in "$packages"/var/cache/apt/archives/*.deb; do
        case ${package##*/} in
        libc6_* | libc6-dev_* | linux-libc-dev_* | libcrypt* | libsqlite3-dev_* | zlib1g*)
            dpkg -x "$package" "$sysroot"
            ;;
        esac
    done
    # pkg-config leaves out this machine's own folder of headers, in which cairo and pango have these.
    cp -R /usr/include/fontconfig "$sysroot/usr/include/"
    # Links to /lib lead into the sysroot, not into this machine.
    find "$sysroot" -type l | while read -r link; do
        target=$(readlink "$link")
        case $target in
        /*) ln -sf "$sysroot$target" "$link" ;;
        esac
    done
    rm -rf "$packages"
    touch "$sysroot/.complete"
fi

# A compiler looks beside itself for the C library before it looks below the sysroot: -B and -L come first.
triplet=$machine-linux-gnu
compiler="${prefix}gcc --sysroot=$sysroot -B$sysroot/usr/lib/$triplet -L$sysroot/usr/lib/$triplet -L$sysroot/lib/$triplet"

# Manual pages and completions come from commands that run here.
mkdir -p "$folder"
cd "$root"
[ -z "$prefix" ] || make -j"$(getconf _NPROCESSORS_ONLN)" all PYTHON="$python"
PYTHONPATH=tools "$python" -m distribution wheel "$folder" build="build/manylinux/$machine" \
    libraries=none cc="$compiler" strip="${prefix}strip" machine="$machine" \
    ${prefix:+native=build}
