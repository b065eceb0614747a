"""The values that a ModelTracer has traced."""

from __future__ import annotations

from typing import Any, NamedTuple

from monitorch import _nearest


class LabelledArray(NamedTuple):
    """An array with named axes.

    Attributes:
        values (ndarray): the array.
        axes (tuple of str): ``("iteration", "rank", "dim_0", ...)``.
        iteration (ndarray): the labels of the first axis.
        rank (ndarray): the labels of the second axis.
    """

    values: Any  # numpy.ndarray
    axes: tuple[str, ...]
    iteration: Any
    rank: Any


class TracedValues:
    """The values of one path: three lists of equal length.

    A callback that stacks values leaves fewer values than iterations.

    Attributes:
        values (list): the values, one for each change.
        iterations (list[int]): the iteration of each value, from 1.
        ranks (list[int]): the rank of each value.
    """

    __slots__ = ("iterations", "ranks", "values")

    def __init__(self) -> None:
        self.iterations: list[int] = []
        self.ranks: list[int] = []
        self.values: list[Any] = []

    def __len__(self) -> int:
        return len(self.values)

    def __repr__(self) -> str:
        counts = {
            "value": len(self.values),
            "iteration": len(set(self.iterations)),
            "rank": len(set(self.ranks)),
        }
        values, iterations, ranks = (
            f"{count} {word}{'' if count == 1 else 's'}" for word, count in counts.items()
        )
        return f"<TracedValues: {values} of {iterations}, {ranks}>"

    def to_labelled(self) -> LabelledArray:
        """Returns the values as one NumPy array with the axes iteration and rank.

        An iteration with several values on one rank gets one row for each. A missing value is NaN.

        Returns:
            LabelledArray: the array and the labels of its axes.

        Raises:
            ValueError: if the values have different shapes, are not numbers or were stacked by a
                callback, or if one is missing and the dtype has no NaN.
        """
        import numpy

        if len(self.values) != len(self.iterations):
            raise ValueError(
                f"{len(self.values)} values for {len(self.iterations)} iterations: "
                "a callback has stacked them"
            )
        arrays = [_as_array(value) for value in self.values]
        shapes = {array.shape for array in arrays}
        if len(shapes) > 1:
            raise ValueError(f"the values have different shapes: {sorted(shapes)}")
        ranks = sorted(set(self.ranks))
        places = self._number_rows()
        rows = sorted(set(places))
        shape = shapes.pop() if shapes else ()
        kind = numpy.result_type(*arrays) if arrays else numpy.dtype(float)
        filled = self._make_empty((len(rows), len(ranks), *shape), kind, len(arrays))
        for place, rank, array in zip(places, self.ranks, arrays):
            filled[rows.index(place), ranks.index(rank)] = array
        axes = ("iteration", "rank", *(f"dim_{i}" for i in range(len(shape))))
        labels = numpy.array([row[0] for row in rows], dtype=numpy.int64)
        return LabelledArray(filled, axes, labels, numpy.array(ranks, dtype=numpy.int64))

    def _number_rows(self) -> list[tuple[int, int]]:
        """The iteration of each value, and its index among those of that iteration and rank."""
        counts: dict[tuple[int, int], int] = {}
        places = []
        for iteration, rank in zip(self.iterations, self.ranks):
            number = counts.get((iteration, rank), 0)
            counts[iteration, rank] = number + 1
            places.append((iteration, number))
        return places

    @staticmethod
    def _make_empty(shape: tuple[int, ...], kind: Any, count: int) -> Any:
        import numpy

        if shape[0] * shape[1] == count:
            return numpy.empty(shape, kind)
        if kind.kind not in "fc":
            raise ValueError(f"some ranks have no value, and {kind} has no NaN to mark them")
        return numpy.full(shape, numpy.nan, kind)


def _as_array(value: Any) -> Any:
    import numpy

    if hasattr(value, "detach"):
        value = value.detach().cpu()
        if value.dtype.is_floating_point and value.dtype.itemsize < 4:
            value = value.float()  # NumPy has no bfloat16
        return value.numpy()
    array = numpy.asarray(value)
    if array.dtype == object:
        raise ValueError(f"a {type(value).__qualname__} is not a number")
    return array


class Results(dict[str, TracedValues]):
    """Traced values by path. A missing path raises a KeyError that names the nearest one."""

    def __missing__(self, path: str) -> TracedValues:
        raise KeyError(f"no values were traced for {path!r}{_nearest.suggest(path, self)}")

    def add(
        self, path: str, values: list[Any], iterations: list[int], ranks: list[int]
    ) -> None:
        traced = self.get(path)
        if traced is None:
            traced = self[path] = TracedValues()
        traced.values.extend(values)
        traced.iterations.extend(iterations)
        traced.ranks.extend(ranks)
