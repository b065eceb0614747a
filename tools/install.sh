#!/bin/sh
# Installs what `make` built: the commands, their manual pages and completions, the package and the licences of what is linked in.
#
# usage: [PYTHON=…] tools/install.sh BUILD PREFIX DESTDIR
set -eu
build=${1:?usage: tools/install.sh BUILD PREFIX DESTDIR}
prefix=${2:?usage: tools/install.sh BUILD PREFIX DESTDIR}
destination=${3:-}
python=${PYTHON:-python3}

# Where this interpreter looks for packages under the prefix.
packages=$("$python" - "$prefix" <<'FIND'
import sys, sysconfig
prefix = sys.argv[1]
scheme = sysconfig.get_default_scheme() if sys.version_info >= (3, 10) else "posix_prefix"
print(sysconfig.get_path("platlib", scheme, vars={"base": prefix, "platbase": prefix}))
FIND
)
bin=$destination$prefix/bin
share=$destination$prefix/share
licences=$share/doc/monitorch
packages=$destination$packages

install -d "$bin" "$licences" "$packages"
install -m 755 "$build"/bin/monitorch-instrument "$build"/bin/monitorch "$bin/"
"$python" "$(dirname "$0")/share.py" "$build" "$share"
(cd "$build/python" && find monitorch -type f ! -name '*.pyc') | while read -r file; do
    mode=644
    case $file in *.so) mode=755 ;; esac
    install -d "$packages/$(dirname "$file")"
    install -m "$mode" "$build/python/$file" "$packages/$file"
done
install -m 644 "$(dirname "$0")/../LICENSE" "$licences/LICENSE"
for component in "$build"/third_party/*/; do
    name=$(basename "$component")
    [ ! -f "$component/LICENSE" ] || install -m 644 "$component/LICENSE" "$licences/LICENSE.$name"
done
echo "installed under $destination$prefix (the package in $packages)"
