"""Callbacks that stack: shapes, zeros where there was nothing, what cannot be stacked."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")
np = pytest.importorskip("numpy")

from tests.support import recording  # noqa: E402

recording.package()

from monitorch.tracer import stack_padded_tensors, stack_tensors  # noqa: E402

pytestmark = pytest.mark.torch
both = pytest.mark.parametrize("stack", [stack_tensors, stack_padded_tensors])


@both
def test_one_shape(stack):
    values, iterations, ranks = [torch.full((2, 3), n) for n in (1, 2, 3)], [5, 6, 5], [0, 0, 1]
    given = values
    stack("x", values, iterations, ranks)
    assert values is given and len(values) == 1
    assert values[0].dtype == torch.int64 and values[0].tolist() == [
        [[n] * 3] * 2 for n in (1, 2, 3)
    ]
    assert iterations == [5, 6, 5] and ranks == [0, 0, 1]


@both
def test_as_a_pre_gather_callback(stack):
    values = [torch.ones(2)]
    stack("x", values, [1])
    assert values[0].shape == (1, 2)


@both
def test_nothing(stack):
    values = []
    stack("x", values, [], [])
    assert values == []


@both
def test_gradients_are_not_kept(stack):
    values = [torch.ones(2, requires_grad=True) * 2]
    stack("x", values, [1], [0])
    assert not values[0].requires_grad


@both
def test_numbers_and_arrays(stack):
    values = [1, 2.5, np.float64(3.0), torch.tensor(4)]
    stack("x", values, [1, 2, 3, 4], [0] * 4)
    assert values[0].tolist() == [1, 2.5, 3, 4] and values[0].dtype == torch.float64


@both
def test_dtypes_are_promoted(stack):
    values = [torch.ones(1, dtype=torch.bfloat16), torch.ones(1, dtype=torch.int32)]
    stack("x", values, [1, 2], [0, 0])
    assert values[0].dtype == torch.bfloat16


def test_other_shapes_are_refused():
    with pytest.raises(
        ValueError, match=r"^x: values of the shapes \(2,\), \(3,\).*stack_padded_tensors"
    ):
        stack_tensors("x", [torch.ones(2), torch.ones(3)], [1, 2], [0, 0])


def test_padding_at_the_ends():
    values = [torch.ones(1, 3), torch.ones(2, 1), torch.ones(0, 2)]
    stack_padded_tensors("x", values, [1, 2, 3], [0] * 3)
    assert values[0].tolist() == [
        [[1, 1, 1], [0, 0, 0]],
        [[1, 0, 0], [1, 0, 0]],
        [[0, 0, 0], [0, 0, 0]],
    ]


def test_leading_axes_are_added():
    values = [torch.tensor(7.0), torch.ones(2), torch.ones(2, 1, 3)]
    stack_padded_tensors("x", values, [1, 2, 3], [0] * 3)
    expected = torch.zeros(3, 2, 1, 3)
    expected[0, 0, 0, 0] = 7
    expected[1, 0, 0, :2] = 1
    expected[2] = 1
    assert torch.equal(values[0], expected)


def test_padded_twice():
    """What was padded and stacked in each process is padded and stacked again."""
    a, b = [torch.ones(2), torch.ones(3)], [torch.ones(1)]
    for values in (a, b):
        stack_padded_tensors("x", values, [1])
    values = a + b
    stack_padded_tensors("x", values, [1, 2, 1], [0, 0, 1])
    assert values[0].tolist() == [[[1, 1, 0], [1, 1, 1]], [[1, 0, 0], [0, 0, 0]]]


@both
def test_what_is_no_tensor_is_left(stack, caplog):
    for _ in range(2):
        values = [torch.ones(1), {"a": 1}]
        stack(f"left by {stack.__name__}", values, [1, 2], [0, 0])
        assert len(values) == 2 and values[1] == {"a": 1}
    assert len(caplog.records) == 1 and "values of type dict were not stacked" in caplog.text


@both
def test_under_inference_mode(stack):
    with torch.inference_mode():
        values = [torch.ones(1), torch.ones(1)]
        stack("x", values, [1, 2], [0, 0])
    assert values[0].tolist() == [[1], [1]]
