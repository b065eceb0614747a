"""The site of the documentation: python tools/website.py FOLDER, which `make docs` calls.

The pages are Markdown that a repository shows unchanged. They link to each other, to other Markdown
and to sources. FOLDER/pages gets README.md, docs/ and every file that they link to, at the same
paths, so that all links work there; mkdocs makes FOLDER/site of it, and fails on a dead link and on
a page that docs/mkdocs.yml does not list.
"""

from __future__ import annotations

import os
import pathlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
FENCE = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\(([^)#:\s]+)(?:#[^)]*)?\)")


def files() -> set[pathlib.Path]:
    """README.md, docs/ and, page by page, the files that they link to. mkdocs reports dead
    links."""
    waiting = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]
    found = set()
    while waiting:
        path = waiting.pop()
        if path in found or not path.is_file():
            continue
        found.add(path)
        if path.suffix == ".md":
            text = FENCE.sub("", path.read_text())
            targets = (path.parent / link for link in LINK.findall(text))
            waiting += [pathlib.Path(os.path.normpath(target)) for target in targets]
    return found


def main() -> int:
    folder = pathlib.Path(sys.argv[1]).resolve()
    pages = folder / "pages"
    shutil.rmtree(pages, ignore_errors=True)
    for path in files():
        place = pages / path.relative_to(ROOT)
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, place)
    words = [sys.executable, "-m", "mkdocs", "build", "--strict", "--clean"]
    words += ["--config-file", ROOT / "docs" / "mkdocs.yml", "--site-dir", folder / "site"]
    environment = {**os.environ, "MONITORCH_PAGES": str(pages), "NO_MKDOCS_2_WARNING": "1"}
    code = subprocess.run(words, env=environment).returncode
    if code == 0:
        print(f"{folder / 'site' / 'index.html'}")
    return code


if __name__ == "__main__":
    sys.exit(main())
