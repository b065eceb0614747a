"""Checks, while instrumented code runs, that each read was bound by the site that is said to have.

`Watcher.hook_for(sites)` gives the hook of one module. In each frame it keeps which
site wrote a name last, and with which value. A site whose table says "this read's name was bound by
site B" is wrong where another site wrote last, or where the name holds another value than B's.
"""

import sys


def is_defined_behind(value, site):
    """A `def` of the name, which the record of a `with` in front of it stands behind."""
    return getattr(getattr(value, "__code__", None), "co_firstlineno", 0) > site["line"]


class Frame:
    def __init__(self, code):
        self.code = code
        self.last = {}  # name -> (the sites that wrote it, the value)
        self.loops = set()


class Watcher:
    def __init__(self):
        self.sites = None  # of the module that runs
        self.frames = {}  # id of a frame -> Frame; `enter` sites start anew
        self.problems = []
        self.claim_count = 0  # reads whose binding is claimed, when they were executed
        self.read_count = 0  # reads of names of the function itself

    def hook_for(self, sites):
        def hook(number, *values):
            self.visit(sys._getframe(1), sites, sites[number], values)

        return hook

    def visit(self, frame, sites, site, values):
        state = self.frames.get(id(frame))
        if state is None or state.code is not frame.f_code or site["kind"] == "enter":
            state = self.frames[id(frame)] = Frame(frame.f_code)
        writes = [name for name, _ in site["writes"]]
        # Turns after a loop's first did not evaluate again what its site reads.
        is_turn = (site["kind"] == "loop" or site["repeats"]) and site["id"] in state.loops
        state.loops.add(site["id"])
        for name, scope, bound in site["reads"]:
            if scope == "local" or bound is not None:
                self.read_count += 1
            if bound is not None and not is_turn:
                self.claim_count += 1
                self.check(frame, state, sites, site, name.partition(".")[0], bound, writes, values)
        for value in values:
            if getattr(value, "is_new", False):
                value.is_new = False
        if site["kind"] not in ("mutate", "return", "spy"):
            left = list(values)
            for name, source in site["writes"]:
                value = left.pop(0) if source != "none" else None
                if "." not in name:
                    before, same = state.last.get(name, ((), None))
                    # `k = x[i] = v` names x, too, which it only changes.
                    before = before if same is value else ()
                    state.last[name] = ((*before, site["id"]), value)

    def check(self, frame, state, sites, site, name, bound, writes, values):
        last, value = state.last.get(name, ((), None))
        now = frame.f_locals.get(name, self)
        where = (
            f"site {site['id']} (line {site['line']}) reads {name}, "
            f"said to be bound by line {sites[bound]['line']}"
        )
        if bound not in last:
            told = f"line {sites[last[-1]]['line']}" if last else "none"
            self.problems.append(f"{where}, was bound by {told}")
        elif site["kind"] in ("branch", "loop"):
            pass  # the record may stand behind a `def` or `class` of that name
        elif name not in writes and now is not value and not is_defined_behind(now, site):
            self.problems.append(f"{where}, holds another value now")
        elif site["kind"] == "assign" and len(values) == 1:
            made = values[0]  # see runnable.py
            if getattr(made, "is_new", False) and all(p is not value for p in made.parents):
                self.problems.append(f"{where}, but another value was read")
