"""What the benchmarks have in common: claims, told in one form, and kept for docs/explanation/benchmarks.md.

    claims = Claims("What spy_save costs outside a context")
    claims.at_most(2.0, "a call of spy_save", median(ratios), peer="a Python function that does nothing")
    claims.at_least(5.0, "saving a tensor", best(by_torch, ours), peer="torch.save", unit="times faster")
    sys.exit(claims.finish())

A figure is a number, `median(ratios)` of rounds in which the peers took turns, or `best(a, b)`: the
shortest time of the one over the shortest of the other, for whatever only adds to a time. The
last two know their spread: the middle half of the rounds' ratios. Exit code 1 where a claim does
not hold. `make bench` runs all files here, and makes docs/explanation/benchmarks.md of what they claimed.
"""

from __future__ import annotations

import dataclasses
import json
import os
import pathlib
import statistics
import sys
from typing import Sequence

# The folder that `make bench` collects claims from; each benchmark leaves one file in it.
RESULTS = "MONITORCH_BENCH_RESULTS"


@dataclasses.dataclass
class Figure:
    value: float
    low: float | None = None
    high: float | None = None

    def __str__(self) -> str:
        spread = "" if self.low is None else f" ({short(self.low)} to {short(self.high)})"
        return short(self.value) + spread


def short(number: float | None) -> str:
    """Four digits of what is near one, three of others, or all of a larger whole number."""
    if number is None:
        return ""
    if abs(number) >= 100:
        return f"{number:,.0f}"
    text = f"{number:.4g}" if abs(number) < 10 else f"{number:.3g}"
    return f"{number:.5f}" if "e" in text else text


def middle_half(ratios: Sequence[float]) -> tuple[float, float]:
    if len(ratios) < 2:
        return ratios[0], ratios[0]
    low, _, high = statistics.quantiles(ratios, n=4, method="inclusive")
    return low, high


def median(ratios: Sequence[float]) -> Figure:
    """Of the rounds' ratios."""
    return Figure(statistics.median(ratios), *middle_half(ratios))


def best(times: Sequence[float], others: Sequence[float]) -> Figure:
    """The shortest of `times` over the shortest of `others`, which were taken in the same rounds."""
    return Figure(min(times) / min(others), *middle_half([a / b for a, b in zip(times, others)]))


class Claims:
    def __init__(self, title: str) -> None:
        self.title = title
        self.rows: list[dict[str, object]] = []

    def at_most(
        self, limit: float, what: str, found: Figure | float, *, peer: str, unit: str = "times"
    ) -> bool:
        return self._claim("at most", limit, what, found, peer, unit)

    def at_least(
        self, limit: float, what: str, found: Figure | float, *, peer: str, unit: str = "times"
    ) -> bool:
        return self._claim("at least", limit, what, found, peer, unit)

    def not_measured(self, what: str, reason: str) -> None:
        """A claim that cannot be tried here, because its peer is not installed."""
        print(f"{what}: not measured: {reason}")
        self.rows.append({"what": what, "not_measured": reason})

    def _claim(
        self, word: str, limit: float, what: str, found: Figure | float, peer: str, unit: str
    ) -> bool:
        figure = found if isinstance(found, Figure) else Figure(float(found))
        holds = figure.value <= limit if word == "at most" else figure.value >= limit
        print(
            f"{what}, against {peer}: {figure} {unit}; "
            f"{word} {short(limit)}: {'holds' if holds else 'DOES NOT HOLD'}"
        )
        self.rows.append(
            {
                "what": what,
                "peer": peer,
                "found": dataclasses.asdict(figure),
                "unit": unit,
                "claim": f"{word} {short(limit)}",
                "holds": holds,
            }
        )
        return holds

    def finish(self) -> int:
        """The exit code; what was claimed is kept where `make bench` asks for it."""
        name = pathlib.Path(sys.argv[0]).name
        folder = os.environ.get(RESULTS)
        if folder:
            text = json.dumps({"file": name, "title": self.title, "claims": self.rows}, indent=1)
            pathlib.Path(folder, name).with_suffix(".json").write_text(text + "\n")
        return int(not all(row.get("holds", True) for row in self.rows))
