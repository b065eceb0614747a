"""The sites of the golden corpus, for people to read: pairs/NAME.sites beside pairs/NAME.traced.py.

A line is a site: its number, place, kind and function; the names written, each with `~` where
the recorder looks it up itself and `-` where only the name is known; the names read, each with
the number of the site that bound it, `?` where that is not certain, `^` for an enclosing
function's and `!` for the module's; what tells a branch's arms apart; `repeats`.

MONITORCH_UPDATE_GOLDEN=1 writes what the compiler makes now; read the difference before you
commit it.
"""

import os
import pathlib

import pytest

from tests.support import compiler

extension = compiler.EXTENSION
PAIRS = pathlib.Path(__file__).resolve().parent / "pairs"
TRACED = sorted(p for p in PAIRS.glob("*.traced.py") if extension and extension.is_instrumented(p.read_bytes()))
IS_UPDATING = os.environ.get("MONITORCH_UPDATE_GOLDEN") == "1"

pytestmark = pytest.mark.skipif(extension is None, reason="the extension is not built (make)")


def text_of_write(write):
    name, source = write
    return name + {"value": "", "peek": "~", "none": "-"}[source]


def text_of_read(read):
    name, scope, site = read
    if scope == "global":
        return name + "!"
    where = "?" if site is None else str(site)
    return name + ("^" if scope == "free" else ":" + where)


def text_of_site(site):
    words = [str(site["id"]), f"{site['line']}:{site['column']}", site["kind"], site["function"]]
    words += [", ".join(map(text_of_write, site["writes"]))] if site["writes"] else []
    words += ["<- " + ", ".join(map(text_of_read, site["reads"]))] if site["reads"] else []
    words += [f"arm {site['arm']}"] if site["arm"] is not None else []
    words += [f"if {site['condition']}"] if site["condition"] else []
    words += [f"ordinal {site['ordinal']}"] if site["ordinal"] else []
    words += ["repeats"] if site["repeats"] else []
    return " ".join(words)


@pytest.mark.parametrize("path", TRACED, ids=[p.name.split(".")[0] for p in TRACED])
def test_sites(path):
    listing = path.with_name(path.name.replace(".traced.py", ".sites"))
    sites = extension.sites(path.read_bytes())
    text = "".join(text_of_site(site) + "\n" for site in sites)
    if IS_UPDATING:
        listing.write_text(text, encoding="utf-8")
    assert text == listing.read_text(encoding="utf-8")
    keys = [site["key"] for site in sites]
    assert len(set(keys)) == len(keys)
    for site in sites:
        bound = [number for _, _, number in site["reads"] if number is not None]
        assert all(sites[number]["function"] == site["function"] for number in bound)
