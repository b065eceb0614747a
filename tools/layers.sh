#!/bin/sh
# Checks that each part includes only what docs/internals/building.md allows it: the parts below it.
set -u
cd "$(dirname "$0")/.." || exit 1

# part|parts it may include|libraries it may include besides libc
rules='runtime/base|runtime/base|xxhash.h
runtime/trace|runtime/base runtime/trace|
runtime/view|runtime/base runtime/trace runtime/view|
instrument|runtime/base runtime/trace/site_ instrument|tree_sitter/
runtime/command|runtime/base runtime/trace runtime/view runtime/command instrument|
runtime/python|runtime/base runtime/trace runtime/view runtime/python instrument|Python.h structmember.h'
libraries='Python.h structmember.h tree_sitter/ cairo pango sqlite3 xxhash.h'

starts_with_one_of() { # text prefix…
    text=$1
    shift
    for prefix; do
        case $text in "$prefix"*) return 0 ;; esac
    done
    return 1
}

check_include() { # file line header parts libraries
    case $3 in
    runtime/* | instrument/* | grammar/*)
        # shellcheck disable=SC2086 # lists of words
        starts_with_one_of "$3" grammar/ $4 && return
        ;;
    ./* | ../*)
        echo "$1:$2:1: include $3 by its path from the repository's root"
        return
        ;;
    *)
        # shellcheck disable=SC2086
        if ! starts_with_one_of "$3" $libraries; then
            [ ! -f "$(dirname "$1")/$3" ] ||
                echo "$1:$2:1: include $3 by its path from the repository's root"
            return
        fi
        # shellcheck disable=SC2086
        starts_with_one_of "$3" $5 && return
        # What draws is the painter's alone.
        case $1 in runtime/view/cairo*) case $3 in cairo* | pango*) return 0 ;; esac ;; esac
        # And what asks in SQL alone knows SQLite.
        case $1 in runtime/view/sql_*) case $3 in sqlite3.h) return 0 ;; esac ;; esac
        ;;
    esac
    echo "$1:$2:1: may not include $3; allowed here: $4${5:+ $5} and libc"
}

check_part() { # part parts libraries
    [ -d "$1" ] || return 0
    # A table of options is included by the name that it was given a line before.
    grep -rnE --include='*.[ch]' --include='*.def' \
        '^[[:space:]]*#[[:space:]]*(include|define TABLE_OF_OPTIONS)[[:space:]]*["<]' "$1" |
        sed -E 's/^([^:]*):([0-9]+):[^"<]*["<]([^">]*)[">].*/\1 \2 \3/' |
        while read -r file line header; do
            check_include "$file" "$line" "$header" "$2" "$3"
        done
}

problems=$(echo "$rules" | while IFS='|' read -r part parts allowed; do
    check_part "$part" "$parts" "$allowed"
done)
if [ -n "$problems" ]; then
    echo "$problems" >&2
    exit 1
fi
