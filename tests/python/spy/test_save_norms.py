"""save_pt(norm_only=True): the L2 norm of each row, against torch's own in double."""

from __future__ import annotations

from typing import Any, Callable

import pytest

torch = pytest.importorskip("torch")
_recorder = pytest.importorskip("monitorch._recorder", reason="not built (make)")

pytestmark = pytest.mark.torch


def norms_by_torch(tensor: Any) -> Any:
    wide = tensor.to(torch.complex128 if tensor.is_complex() else torch.float64)
    if wide.dim() == 0:
        return wide.abs()
    if wide.numel() == 0:
        return torch.zeros(wide.shape[0], dtype=torch.float64)
    return torch.linalg.vector_norm(wide.reshape(wide.shape[0], -1), dim=1)


NORMS: dict[str, tuple[Callable[[], Any], Any]] = {
    "float32": (lambda: torch.randn(7, 3, 5), torch.float32),
    "float64": (lambda: torch.randn(7, 3, dtype=torch.float64), torch.float64),
    "float16": (lambda: (torch.randn(200, 9) * 30).half(), torch.float16),
    "float16, small": (lambda: (torch.rand(200, 2) * 1e-6).half(), torch.float16),
    "float16, too large": (lambda: torch.full((2, 4), 60000.0).half(), torch.float16),
    "bfloat16": (lambda: torch.randn(200, 9).bfloat16(), torch.bfloat16),
    "bfloat16, small": (lambda: (torch.rand(50, 2) * 1e-38).bfloat16(), torch.bfloat16),
    "bfloat16, too large": (lambda: torch.full((2, 9), 3e38).bfloat16(), torch.bfloat16),
    "float8": (lambda: torch.randn(4, 9).to(torch.float8_e4m3fn), torch.float32),
    "integers": (lambda: torch.arange(-10, 10).reshape(4, 5), torch.float32),
    "uint8": (lambda: torch.arange(20, dtype=torch.uint8).reshape(4, 5), torch.float32),
    "bools": (lambda: torch.tensor([[True, True], [False, False]]), torch.float32),
    "complex64": (lambda: torch.randn(4, 3, dtype=torch.complex64).conj(), torch.float32),
    "complex128": (lambda: torch.randn(4, 3, dtype=torch.complex128), torch.float64),
    "numbers": (lambda: torch.tensor([-3.0, 4.0]), torch.float32),
    "0-D": (lambda: torch.tensor(-3.0), torch.float32),
    "no rows": (lambda: torch.zeros(0, 4), torch.float32),
    "empty rows": (lambda: torch.zeros(3, 0), torch.float32),
    "strided": (lambda: torch.randn(600, 700).t(), torch.float32),
    "expanded": (lambda: torch.randn(3, 1).expand(3, 100), torch.float32),
    "long rows": (lambda: torch.randn(3, 200_000), torch.float32),
    "nan": (lambda: torch.tensor([[1.0, float("nan")], [3.0, 4.0]]), torch.float32),
    "nan, half": (lambda: torch.tensor([[1.0, float("nan")]]).half(), torch.float16),
    "inf, half": (lambda: torch.tensor([[1.0, float("inf")]]).half(), torch.float16),
    "requires_grad": (lambda: torch.randn(3, 4, requires_grad=True), torch.float32),
}


@pytest.mark.parametrize("kind", NORMS)
def test_norms(tmp_path: Any, kind: str) -> None:
    make, dtype = NORMS[kind]
    torch.manual_seed(0)
    tensor = make()
    path = tmp_path / "a.pt"
    _recorder.save_pt(path, tensor, ("", "m", "x", 0), may_replace=True, norm_only=True)
    loaded = torch.load(path, weights_only=True)
    wanted = norms_by_torch(tensor.detach())
    assert loaded.dtype == dtype and loaded.shape == wanted.shape
    # Sums are taken in another order, which is seen in double alone.
    tolerance = 1e-12 if dtype == torch.float64 else 1e-7 if dtype == torch.float32 else 0
    torch.testing.assert_close(
        loaded.double(), wanted.to(dtype).double(), rtol=tolerance, atol=0, equal_nan=True
    )


def test_what_is_no_number(tmp_path: Any) -> None:
    packed = torch.zeros(4, dtype=torch.uint8).view(torch.float4_e2m1fn_x2)
    with pytest.raises(TypeError):
        _recorder.save_pt(
            tmp_path / "a.pt", packed, ("", "m", "x", 0), may_replace=True, norm_only=True
        )
    assert not list(tmp_path.iterdir())
