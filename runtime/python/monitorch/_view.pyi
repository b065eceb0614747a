from typing import Any, Literal, TypedDict

class Rendered(TypedDict):
    data: bytes  # empty if there are no nodes
    nodes: int
    events: int
    older: int  # the number of nodes that max_nodes left out

# Draws the trace at `path`, which may still be recorded. `lines`, `functions`, `files` and `names`
# have the form of the options of `monitorch graph`. Raises OSError, MemoryError, and ValueError for
# a wrong option.
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

# The page of the trace at `path` in at most `max_size` bytes (0: the default), and its verdict,
# escaped. Raises OSError, MemoryError, and ValueError if the page cannot be so small.
def page(path: str, max_size: int) -> tuple[bytes, str]: ...

# The paths of the traces that a word names: a file, a folder, or the common name of ranks.
def find_traces(word: bytes) -> list[bytes]: ...

# Opens traces for load(). Returns it with the time at which each recording began, in nanoseconds
# since 1970. `conditions` are options of `monitorch show`. Without `columns` all are read, and
# `trace` if there are several traces. Raises ValueError, which names the wrong condition or column,
# OSError and MemoryError.
def open(
    paths: tuple[bytes, ...],
    columns: tuple[str, ...] | None,
    conditions: tuple[tuple[str, str], ...],
) -> tuple[object, list[int]]: ...

# Reads the events of the opened traces as columns; may be called once. Returns the number of rows;
# for each column the format of its items, the bytes (possibly more than there are rows), the codes
# of texts among numbers, and the distinct texts; for each trace whether it was finished, and the
# damage.
def load(
    opened: object,
) -> tuple[
    int,
    dict[str, tuple[str, bytes, bytes | None, list[str]]],
    list[tuple[bool, list[str]]],
]: ...

# The table as an Arrow stream, in a capsule, or its schema. `columns` and `conditions` are those of events.
def arrow(
    table: Literal["events", "sites", "calls", "edges", "steps", "parameters"],
    paths: tuple[bytes, ...],
    columns: tuple[str, ...] | None,
    conditions: tuple[tuple[str, str], ...],
    is_schema: bool,
) -> object: ...

# The sites, calls (with their ends), edges, steps or parameters of the trace at `path`: lines of JSON.
def records(path: bytes, table: Literal["sites", "calls", "edges", "steps", "parameters"]) -> bytes: ...

# Opens a folder of saved tensors or one file of them. Its entries: (prefix, module, name, call,
# order or None, file, function, line, dtype, shape, format, file name). Also lists the files that
# could not be read.
def saved_open(
    path: str,
) -> tuple[
    object,
    list[
        tuple[
            str, str, str, int, int | None, str, str, int, str, tuple[int, ...], str, str
        ]
    ],
    list[str],
]: ...

# The values of an entry. Packed: in row-major order, conjugates and negatives resolved, floats of
# fewer than 32 bits as float32, complex32 as complex64. Otherwise as stored in the file, with
# strides in bytes (None: row-major order), and whether the values are to be conjugated and negated.
# Only one thread at a time may call it.
def saved_read(
    folder: object, index: int, is_packed: bool
) -> tuple[bytearray, tuple[int, ...] | None, bool, bool]: ...

# Opens a reference trace whose tensors replace a run's; also says which recording it is. Raises
# ValueError if it has no complete values.
def graft_open(path: str) -> tuple[object, str]: ...

# The next tensor that the reference's site wrote: its event, and the hash of its values.
def graft_next(
    reference: object, site: int, write: int, path: str, /
) -> tuple[int, int | None] | None: ...

# The elements of that event's tensor in row-major order: dtype, shape, bytes. None: not recorded.
def graft_read(
    reference: object, event: int, /
) -> tuple[str, tuple[int, ...], bytearray] | None: ...

# The counts of B's sites and of those that A has too, as (B's, A's, line in B, file in B).
def graft_sites(
    path_a: str, path_b: str, renames: tuple[tuple[bytes, bytes], ...], /
) -> tuple[int, list[tuple[int, int, int, str]]]: ...

# A node of a call tree: (name, parent, count, calls, first_seen, indices, shape). A tree is a list
# of nodes, parents first; `parent` is an index into the list, -1 for the root.
CallNode = tuple[str, int, int, int, int, tuple[int, ...], str]

# The called modules, as (path, shape), in a trace or a list of paths. Raises OSError, MemoryError.
def call_paths(path: bytes) -> list[tuple[str, str]]: ...
def call_tree(paths: list[tuple[str, str]]) -> list[CallNode]: ...
def call_prune(nodes: list[CallNode]) -> list[CallNode]: ...
def call_squash(nodes: list[CallNode]) -> list[CallNode]: ...
def call_json(nodes: list[CallNode]) -> bytes: ...

# The bytes of a file. `attributes` are (kind, name, value) for DOT; kind is graph, node or edge.
# Width and height are in inches, 0 for no limit. Raises ValueError for a wrong option.
def call_graph(
    nodes: list[CallNode],
    format: Literal["png", "svg", "pdf", "dot"],
    *,
    show_repetition: bool = True,
    prune_leaves: bool = True,
    squash_name: bool = False,
    shapes: bool = True,
    attributes: tuple[tuple[str, str, str], ...] = (),
    dpi: float = 150.0,
    width: float = 0.0,
    height: float = 0.0,
    theme: Literal["light", "dark"] = "light",
    title: str = "",
) -> bytes: ...

# A picture of {step: {key: number}} with a line for each key that matches one of the globs, and the
# number of these keys. Without any, there are no bytes. Sizes are in points, 0 for the default.
# Raises ValueError for a wrong option.
def chart(
    metrics: dict[int, dict[str, Any]],
    patterns: tuple[str, ...],
    format: Literal["png", "svg", "pdf"],
    *,
    scale: Literal["auto", "linear", "log"] = "auto",
    theme: Literal["light", "dark"] = "light",
    title: str = "",
    width: float = 0.0,
    height: float = 0.0,
    dpi: float = 96.0,
) -> tuple[bytes, int]: ...

# A step's {key: number} as rows `step,key,value`, or as a line of JSON that can include {key:
# (counts, edges)}.
def metrics_csv(step: int, metrics: dict[str, Any], /) -> bytes: ...
def metrics_json(step: int, metrics: dict[str, Any], histograms: dict[str, Any], /) -> bytes: ...
