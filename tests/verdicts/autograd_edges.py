"""The edges of a trace, held against those of autograd.

For each recorded value that autograd follows, the nearest recorded values below it are found twice: in
autograd's graph, and over the edges of `monitorch sql`.
"""

import collections
import dataclasses
import json
import pathlib

from tests.support import viewer

HERE = pathlib.Path(__file__).resolve().parent


def ask(trace, query):
    done = viewer.run("sql", "--json", trace, query)
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


@dataclasses.dataclass
class Comparison:
    """Pairs of a source and a target: nodes of autograd, each with the numbers of its events."""

    right: set = dataclasses.field(default_factory=set)
    missed: set = dataclasses.field(default_factory=set)
    false: set = dataclasses.field(default_factory=set)  # those that are certain
    unsure: set = dataclasses.field(default_factory=set)  # false, and not certain
    events: dict = dataclasses.field(default_factory=dict)
    members: dict = dataclasses.field(default_factory=dict)

    @property
    def recall(self):
        return len(self.right) / max(1, len(self.right) + len(self.missed))

    @property
    def precision(self):
        """Of the edges over which a value certainly went."""
        return len(self.right) / max(1, len(self.right) + len(self.false))

    @property
    def precision_of_all(self):
        false = len(self.false | self.unsure)
        return len(self.right) / max(1, len(self.right) + false)

    def describe(self, pairs):
        return "\n".join(sorted(f"    {self.where(s)} -> {self.where(t)}" for s, t in pairs))

    def where(self, node):
        event = self.events[min(self.members[node])]
        place = f"{pathlib.Path(event['file']).name}:{event['line']}"
        return f"#{event['seq']} {place} {event['name']}{event['path'] or ''}"


def below_in_autograd(edges, node, recorded):
    found, stack, seen = set(), list(edges.get(node[0], [])), set()
    while stack:
        other = stack.pop()
        if other in seen:
            continue
        seen.add(other)
        if other in recorded and other != node:
            found.add(other)
        else:
            stack.extend(edges.get(other[0], []))
    return found


def below_in_trace(sources, events, node, known, least):
    found, stack, seen = set(), list(events), set()
    while stack:
        event = stack.pop()
        if event in seen:
            continue
        seen.add(event)
        other = known.get(event)
        if other is not None and other != node:
            found.add(other)
        else:
            stack.extend(s for s, certain in sources.get(event, ()) if certain >= least)
    return found


def compare(trace, graph):
    """`graph` is what autograd_driver.py wrote."""
    graph = json.loads(pathlib.Path(graph).read_text())
    edges = {int(k): [tuple(n) for n in v] for k, v in graph["edges"].items()}
    query = (
        "select seq, object, version, file, line, name, path from events where value_kind='tensor'"
    )
    result = Comparison(events={event["seq"]: event for event in ask(trace, query)})
    known = {}
    members = collections.defaultdict(list)
    for seq, event in result.events.items():
        found = graph["objects"].get(str(event["object"]))
        if found and event["version"] == found[2]:
            known[seq] = (found[0], found[1])
            members[known[seq]].append(seq)
    result.members = members
    sources = collections.defaultdict(list)
    for edge in ask(trace, "select * from edges where kind <> 'shape'"):
        sources[edge["target"]].append((edge["source"], edge["certain"]))
    for node, seqs in members.items():
        true = below_in_autograd(edges, node, members)
        all_of_ours = below_in_trace(sources, seqs, node, known, 0)
        certain = below_in_trace(sources, seqs, node, known, 1)
        result.right |= {(source, node) for source in true & all_of_ours}
        result.missed |= {(source, node) for source in true - all_of_ours}
        result.false |= {(source, node) for source in certain - true}
        result.unsure |= {(source, node) for source in all_of_ours - certain - true}
    return result
