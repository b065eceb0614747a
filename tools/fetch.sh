#!/bin/sh
# Puts the releases that grammar/releases.txt lists under FOLDER (default build/third_party).
# Archives are kept in a cache, so that a second build, in any clone, needs no network; an sdist
# brings them in grammar/archives.
#
# usage: tools/fetch.sh [FOLDER]     PYTHON=… chooses the interpreter that runs pip
#        tools/fetch.sh --archives   only prints the archives' paths, fetched where they are missing
set -eu

root=$(cd "$(dirname "$0")/.." && pwd)
folder=${1:-$root/build/third_party}
releases=$root/grammar/releases.txt
brought=$root/grammar/archives
python=${PYTHON:-python3}
cache=${XDG_CACHE_HOME:-${HOME:-/tmp}/.cache}/monitorch
log=$(mktemp)
scratch=
trap 'rm -rf "$log" ${scratch:+"$scratch"}' EXIT
trap 'exit 130' HUP INT TERM

say() {
    echo "fetch: $*" >&2
}

hash_of() {
    if command -v sha256sum >/dev/null 2>&1; then
        sha256sum "$1" | cut -d' ' -f1
    else
        shasum -a 256 "$1" | cut -d' ' -f1
    fi
}

# A cached archive is hashed each time it is unpacked: a disk may cut or damage a file.
is_cached() { # archive sha256
    [ -f "$1" ] || return 1
    [ "$(hash_of "$1")" = "$2" ] && return 0
    say "$1 is damaged (its SHA-256 is not $2): fetching it again"
    rm -f "$1"
    return 1
}

# Each client leaves one archive in the scratch folder. pip asks a source package's build
# script for its metadata; --require-hashes makes it check the archive before that.
run_client() { # client package version sha256
    case $1 in
    pip)
        echo "$2==$3 --hash=sha256:$4" >"$scratch/requirements"
        "$python" -m pip download --quiet --disable-pip-version-check --retries 1 \
            --no-deps --no-binary :all: --require-hashes \
            --requirement "$scratch/requirements" --dest "$scratch/archive"
        ;;
    npm)
        "$python" "$root/tools/fetch_npm.py" "$2" "$3" "$scratch/archive" ||
            (cd "$scratch/archive" && npm pack --loglevel=error --ignore-scripts --fetch-retries=1 "$2@$3")
        ;;
    esac
}

fetch_archive() { # client package version sha256 archive
    rm -rf "$scratch/archive" && mkdir -p "$scratch/archive"
    say "$2 $3 from $1"
    {
        echo "--- $1: $2 $3"
        run_client "$1" "$2" "$3" "$4" 2>&1
    } >>"$log" || return 1
    got=$(find "$scratch/archive" -type f | head -n 1)
    if [ -z "$got" ]; then
        echo "$1 left no file" >>"$log"
        return 1
    fi
    sum=$(hash_of "$got")
    if [ "$sum" != "$4" ]; then
        say "$2 $3 from $1 has SHA-256 $sum, but $4 was expected: not used"
        echo "wrong SHA-256: $sum" >>"$log"
        return 1
    fi
    mv "$got" "$5"
}

lines_of() { # component
    grep -v '^#' "$releases" | awk -v name="$1" '$1 == name'
}

# Sets `archive`, `sum` and `part` to the first line of the component that can be had.
find_archive() { # component
    while read -r _ client package version sum part; do
        for place in "$brought" "$cache"; do
            archive=$place/$client-$package-$version.tgz
            is_cached "$archive" "$sum" && return 0
        done
    done <<LINES
$(lines_of "$1")
LINES
    while read -r _ client package version sum part; do
        archive=$cache/$client-$package-$version.tgz
        fetch_archive "$client" "$package" "$version" "$sum" "$archive" </dev/null && return 0
    done <<LINES
$(lines_of "$1")
LINES
    return 1
}

explain_failure() { # component
    sed 's/^/    /' "$log" >&2
    say "cannot get $1. Is there a network? Without one, fetch elsewhere and copy here:"
    grep -v '^#' "$releases" | awk '!seen[$1]++' |
        while read -r _ client package version digest _; do
            say "    $client package $package $version (SHA-256 $digest)"
            say "    as $cache/$client-$package-$version.tgz"
        done
}

unpack() { # component archive part stamp-text
    mkdir -p "$scratch/unpacked"
    tar -xzf "$2" -C "$scratch/unpacked" --strip-components=1
    rm -rf "${folder:?}/$1"
    mv "$scratch/unpacked/$3" "$folder/$1"
    # The licence travels with the code that is linked in; a lone header holds its own.
    if [ -f "$folder/$1/xxhash.h" ]; then
        sed -n '1,/\*\//p' "$folder/$1/xxhash.h" >"$folder/$1/LICENSE"
    elif [ -f "$scratch/unpacked/LICENSE" ]; then
        cp "$scratch/unpacked/LICENSE" "$folder/$1/LICENSE"
    fi
    rm -rf "$scratch/unpacked"
    echo "$4" >"$folder/$1/.sha256"
}

lists_archives=
if [ "$folder" = --archives ]; then
    lists_archives=yes
    folder=$root/build/third_party
fi
mkdir -p "$folder"
if ! mkdir -p "$cache" 2>/dev/null || [ ! -w "$cache" ]; then
    cache=$folder/archives
    mkdir -p "$cache"
fi
scratch=$(mktemp -d "$cache/fetch.XXXXXX")
components=$(grep -v '^#' "$releases" | awk '!seen[$1]++ { print $1 }')
for component in $components; do
    present=$(cat "$folder/$component/.sha256" 2>/dev/null || true)
    if [ -z "$lists_archives" ] && [ -n "$present" ] && lines_of "$component" | grep -q -- "$present"; then
        continue
    fi
    : >"$log"
    if ! find_archive "$component"; then
        explain_failure "$component"
        exit 1
    fi
    if [ -n "$lists_archives" ]; then
        echo "$archive"
    else
        unpack "$component" "$archive" "$part" "$sum"
    fi
done
