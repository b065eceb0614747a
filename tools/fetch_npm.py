"""An archive of the npm registry, fetched without npm, which is 400 packages on Debian.

usage: fetch_npm.py PACKAGE VERSION FOLDER

The registry is that of npm's settings: the variable npm_config_registry, or `registry=` in an
npmrc. A registry that needs a password requires npm itself. tools/fetch.sh compares the archive's
SHA-256.
"""

import os
import pathlib
import re
import sys
import urllib.request

FILES = ("~/.npmrc", "/etc/npmrc", "/usr/etc/npmrc", "/usr/local/etc/npmrc")


def find_registry() -> str:
    for name in ("npm_config_registry", "NPM_CONFIG_REGISTRY"):
        if os.environ.get(name):
            return os.environ[name]
    for name in (os.environ.get("NPM_CONFIG_USERCONFIG", ""), *FILES):
        try:
            text = pathlib.Path(os.path.expanduser(name or "/none")).read_text()
        except OSError:
            continue
        found = re.search(r"(?m)^\s*registry\s*=\s*(\S+)", text)
        if found:
            return found[1]
    return "https://registry.npmjs.org/"


def main() -> None:
    package, version, folder = sys.argv[1:]
    name = f"{package}-{version}.tgz"
    url = f"{find_registry().rstrip('/')}/{package}/-/{name}"
    try:
        with urllib.request.urlopen(url, timeout=60) as answer:
            data = answer.read()
    except (OSError, ValueError) as error:
        sys.exit(f"{url}: {error}")
    pathlib.Path(folder, name).write_bytes(data)


if __name__ == "__main__":
    main()
