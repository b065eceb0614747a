"""The rules of call trees and graphs (docs/reference/calls.md), as plain as they can be written: slow, on
paths alone. What the package makes of the same paths has to be equal."""

from __future__ import annotations

from collections import Counter

Key = tuple[str, ...]  # the names on the way from the root


def is_index(segment: str) -> bool:
    return 0 < len(segment) <= 18 and all(letter in "0123456789" for letter in segment)


def steps_of(path: str) -> list[tuple[str, set[int]]]:
    """Each name of the path, with the numbers that follow it."""
    steps: list[tuple[str, set[int]]] = []
    for segment in path.split("."):
        if segment == "":
            continue
        if steps and is_index(segment):
            steps[-1][1].add(int(segment))
        else:
            steps.append((segment, set()))
    return steps


class Tree:
    """What there is to know of each node, by its key."""

    def __init__(self, paths: list[str]) -> None:
        self.path_count = len(paths)
        self.counts: dict[Key, int] = {}
        self.ends: dict[Key, int] = {}
        self.first_seen: dict[Key, int] = {}
        self.indices: dict[Key, set[int]] = {}
        for number, path in enumerate(paths):
            steps = steps_of(path)
            for depth in range(1, len(steps) + 1):
                key = tuple(name for name, _ in steps[:depth])
                self.counts[key] = self.counts.get(key, 0) + 1
                self.ends[key] = self.ends.get(key, 0) + (depth == len(steps))
                self.first_seen.setdefault(key, number)
                self.indices.setdefault(key, set()).update(steps[depth - 1][1])

    def children(self, key: Key) -> list[Key]:
        """In the order in which they were first seen: no path goes through two of them."""
        below = [k for k in self.counts if k[:-1] == key]
        return sorted(below, key=lambda k: self.first_seen[k])

    def pruned(self) -> set[Key]:
        """The keys that are left where each path loses its last name, unless it is the only one."""
        return {key for key in self.counts if len(key) == 1 or self.children(key)}


def label(name: str, indices: set[int], show_repetition: bool) -> str:
    return f"{name} x {len(indices)}" if show_repetition and len(indices) > 1 else name


class Graph:
    """The labels of a graph's nodes and the pairs of labels that edges join, each with how often
    it is there."""

    def __init__(
        self, paths: list[str], show_repetition: bool, prune_leaves: bool, squash_name: bool
    ) -> None:
        tree = Tree(paths)
        kept = tree.pruned() if prune_leaves else set(tree.counts)
        models = {("root",)} if not any(len(k) > 1 and k[0] == "root" for k in kept) else set()
        nodes = kept - models
        tops = {key for key in nodes if len(key) == 1}
        self.has_root = len(tops) > 1 or bool(models & kept)
        indices: dict[object, set[int]] = {}
        names: dict[object, str] = {}
        for key in nodes:
            place = self.place(key, squash_name)
            names[place] = key[-1]
            indices.setdefault(place, set()).update(tree.indices[key])
        told = {p: label(names[p], indices[p], show_repetition) for p in names}
        if squash_name and models & kept and "root" in told:
            merged = indices["root"] | tree.indices[("root",)]
            told["root"] = label("root", merged, show_repetition)
        self.labels = Counter(told.values())
        edges = {
            (self.place(key[:-1], squash_name), self.place(key, squash_name))
            for key in nodes
            if len(key) > 1 or self.has_root
        }
        if self.has_root:
            told[()] = "root"
            self.labels["root"] += 1
        self.edges = Counter((told[a], told[b]) for a, b in edges)

    @staticmethod
    def place(key: Key, squash_name: bool) -> object:
        return key[-1] if squash_name and key else key
