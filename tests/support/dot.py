"""Graphs in DOT text, read back: the part of the language that a picture of ours can be told in."""

import html
import re

_TOKEN = re.compile(
    r"""\s+|//[^\n]*|\#[^\n]*|/\*.*?\*/
    |(?P<text>"(?:[^"\\]|\\.)*")
    |(?P<word>[A-Za-z_\x80-\U0010ffff][\w\x80-\U0010ffff]*|-?(?:\.\d+|\d+(?:\.\d*)?))
    |(?P<sign>->|--|[{}\[\];,=:])
    |(?P<html><)""",
    re.VERBOSE | re.DOTALL,
)


class Malformed(Exception):
    """The text is no DOT."""


def _html_end(text, start):
    """Where the text in angle brackets that begins at `start` ends."""
    depth = 0
    for i in range(start, len(text)):
        depth += {"<": 1, ">": -1}.get(text[i], 0)
        if depth == 0:
            return i + 1
    raise Malformed("angle brackets are left open")


def _tokens(text):
    at = 0
    while at < len(text):
        found = _TOKEN.match(text, at)
        if not found:
            raise Malformed(f"not understood: {text[at:at + 40]!r}")
        at = found.end()
        if found.lastgroup == "html":
            at = _html_end(text, found.start())
            yield "id", text[found.start() : at]
        elif found.lastgroup == "text":
            yield "id", re.sub(r'\\(["\\\n])', r"\1", found["text"][1:-1])
        elif found.lastgroup == "word":
            yield "id", found["word"]
        elif found.lastgroup == "sign":
            yield "sign", found["sign"]
    yield "end", ""


class Graph:
    """What was read. A node's `groups` are the labels of the boxes around it, outermost first."""

    def __init__(self):
        self.attributes = {}
        self.nodes = {}  # id -> (groups, attributes), in the order of the text
        self.edges = []  # (id, id, attributes)
        self.groups = []  # tuples of labels, in the order of the text


class _Reader:
    def __init__(self, text):
        self.tokens = list(_tokens(text))
        self.at = 0
        self.graph = Graph()

    def peek(self):
        return self.tokens[self.at]

    def take(self, sign=None):
        kind, value = self.tokens[self.at]
        if kind == "end" or (sign is None) != (kind == "id") or sign not in (None, value):
            raise Malformed(f"{value!r} stands where {sign or 'a name'} was expected")
        self.at += 1
        return value

    def skips(self, sign):
        if self.peek() != ("sign", sign):
            return False
        self.at += 1
        return True

    def attributes(self):
        found = {}
        while self.skips("["):
            while not self.skips("]"):
                name = self.take()
                self.take("=")
                found[name] = self.take()
                self.skips(",") or self.skips(";")
        return found

    def node(self, groups):
        name = self.take()
        while self.skips(":"):
            self.take()
        self.graph.nodes.setdefault(name, [groups, {}])
        return name

    def statement(self, box, groups):
        """Of the box that `groups` ends with, whose attributes are in `box`."""
        if self.peek() == ("sign", "{") or self.peek() == ("id", "subgraph"):
            self.block(groups)
            return
        if self.tokens[self.at + 1] == ("sign", "="):
            name = self.take()
            self.take("=")
            box[name] = self.take()
            return
        if self.peek()[1] in ("graph", "node", "edge"):
            kind = self.take()
            found = self.attributes()
            if kind == "graph":
                box.update(found)
            return
        ends = [self.node(groups)]
        while self.skips("->") or self.skips("--"):
            ends.append(self.node(groups))
        found = self.attributes()
        if len(ends) == 1:
            self.graph.nodes[ends[0]] = [groups, found]
        for source, target in zip(ends, ends[1:]):
            self.graph.edges.append((source, target, found))

    def block(self, groups):
        if self.peek() == ("id", "subgraph"):
            self.take()
            if self.peek()[0] == "id":
                self.take()
        box = {}
        self.graph.groups.append((groups, box))
        self.statements(box, groups + (box,))

    def statements(self, box, groups):
        self.take("{")
        while not self.skips("}"):
            self.statement(box, groups)
            self.skips(";")

    def read(self):
        if self.peek()[1] == "strict":
            self.take()
        if self.take() not in ("graph", "digraph"):
            raise Malformed("neither graph nor digraph")
        if self.peek()[0] == "id":
            self.take()
        self.statements(self.graph.attributes, ())
        if self.peek()[0] != "end":
            raise Malformed(f"text behind the graph: {self.peek()[1]!r}")
        return self.graph


def _labels(boxes):
    return tuple(words(box.get("label", "")) for box in boxes)


def read(text):
    """The Graph of `text`; raises Malformed."""
    graph = _Reader(text).read()
    graph.nodes = {
        name: (_labels(groups), attributes) for name, (groups, attributes) in graph.nodes.items()
    }
    graph.groups = [_labels(groups + (box,)) for groups, box in graph.groups]
    return graph


def _told(attributes):
    return " ".join(f"{name}={words(value)}" for name, value in sorted(attributes.items()))


def words(label):
    """A label's text without its markup."""
    if not label.startswith("<"):
        return label
    plain = re.sub(r"<br/>", " | ", label[1:-1])
    return html.unescape(re.sub(r"<[^>]*>", "", plain))


def describe(graph):
    """Nodes, edges and boxes as lines, in which ids are numbers: equal for equal graphs."""
    numbers = {name: number for number, name in enumerate(graph.nodes)}
    lines = [
        f"node {numbers[name]} in {list(groups)}: {_told(attributes)}"
        for name, (groups, attributes) in graph.nodes.items()
    ]
    lines += sorted(
        f"edge {numbers[source]:3} -> {numbers[target]:3}: {_told(attributes)}"
        for source, target, attributes in graph.edges
    )
    return lines + [f"box {list(labels)}" for labels in graph.groups]
