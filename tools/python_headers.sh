#!/bin/sh
# Prints the folder of an interpreter's Python.h, or says what is missing.
set -eu
python=${1:-python3}
folder=$("$python" -c 'import sysconfig; print(sysconfig.get_path("include"))') || {
    echo "$python does not run: install Python 3.10 or newer, or pass PYTHON=…" >&2
    exit 1
}
if [ ! -f "$folder/Python.h" ]; then
    echo "$folder/Python.h is missing: the extension module needs the headers of" \
        "$python (package python3-dev on Debian), or pass PYTHON=…" >&2
    exit 1
fi
echo "$folder"
