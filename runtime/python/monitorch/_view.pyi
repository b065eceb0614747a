from typing import Literal, TypedDict

class Rendered(TypedDict):
    data: bytes  # empty where there are no nodes
    nodes: int
    events: int
    older: int  # nodes that max_nodes left out

# Draws the trace at `path`, which may still be recorded. `lines`, `functions`, `files` and `names` are as
# after the options of `monitorch graph`. OSError, MemoryError; ValueError tells what is wrong with an option.
def render(
    path: str,
    format: Literal["png", "svg", "pdf", "dot"],
    *,
    first_event: int = 0,
    max_nodes: int = 0,
    fold: Literal["auto", "all", "none"] = "auto",
    lines: tuple[str, ...] = (),
    functions: tuple[str, ...] = (),
    files: tuple[str, ...] = (),
    names: tuple[str, ...] = (),
    max_vector: int = 32,
    max_matrix: int = 8,
    max_slices: int = 6,
    theme: Literal["light", "dark"] = "light",
    title: str = "",
    dpi: float = 96.0,
) -> Rendered: ...
