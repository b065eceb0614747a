"""Graft: a recording that replaces each tensor by that of a reference trace after it was recorded.
So the error of each later line is its own, and several faults are found in one run."""

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any

_SETTING_LIMIT = 4000  # bytes: a trace cuts longer texts


def read(graft: object, at: object, renames: "Mapping[str, str] | None") -> "Graft | None":
    """Reads `record(graft=…, graft_at=…, graft_map=…)`. Raises OSError, ValueError or TypeError,
    which say what is wrong."""
    if graft is None:
        if at is not None or renames is not None:
            raise ValueError("graft_at and graft_map need graft, the trace of the reference")
        return None
    from monitorch._record import trace_path as _trace_path

    path = _trace_path.make_absolute(_trace_path.decode(graft))
    pairs = tuple(
        (old.encode("utf-8", "replace"), new.encode("utf-8", "replace"))
        for old, new in dict(renames or {}).items()
    )
    return Graft(path, _read_places(at), pairs)


def _read_places(at: object) -> "list[tuple[str, int]] | None":
    """Reads the places. None: every line."""
    if at is None:
        return None
    texts: "Iterable[object]" = [at] if isinstance(at, str) else at  # type: ignore[assignment]
    places = []
    for text in texts:
        file, colon, line = str(text).rpartition(":")
        if not file or not line.isdigit():
            raise ValueError(f"graft_at must be FILE:LINE, not {text!r}")
        places.append((file, int(line)))
    return places


class Graft:
    """Replaces values by those of the reference: the n-th value of a place by the n-th value of
    that place in the reference.

    `diff` compares the replaced values later, by its own alignment. A replaced value stays part of
    autograd: the tensor is the same object, with other data.
    """

    def __init__(
        self,
        path: str,
        places: "list[tuple[str, int]] | None",
        renames: "tuple[tuple[bytes, bytes], ...]",
    ) -> None:
        from monitorch import _view

        self._view = _view
        self.path = path
        self._places = places
        self._renames = renames
        self._reference, self._identity = _view.graft_open(path)
        self._sites: "dict[int, int]" = {}  # site of this trace: site of the reference
        self._chosen: "set[int]" = set()  # sites of this trace whose values are replaced
        self._site_count = 0
        self._runs: "list[list[int]]" = []  # [event, the reference's event, count]
        self._is_broken = True  # a tensor since the last run was not replaced
        self._storages: "set[int]" = set()
        self.replaced = 0
        self.failed = 0

    def change(
        self,
        tensor: "Any",
        event: int,
        site: int,
        write: int,
        path: str,
        is_mutated: bool,
        hash: "int | None",
    ) -> None:
        if site >= self._site_count:
            self._match()
        other = self._sites.get(site)
        found = None if other is None else self._view.graft_next(self._reference, other, write, path)
        if found is None or site not in self._chosen:
            self._is_broken = True
            return
        torch = sys.modules["torch"]
        if type(tensor) not in (torch.Tensor, torch.nn.Parameter):
            self._is_broken = True
            return
        if hash is None or hash != found[1]:
            if not self._replace(torch, tensor, found[0], is_mutated):
                self.failed += 1
                self._is_broken = True
                return
            self.replaced += 1
        self._storages.add(tensor.untyped_storage().data_ptr())
        self._note(event, found[0])

    def _match(self) -> None:
        """Matches the sites again after modules have joined the recording."""
        from monitorch import _recorder

        path = _recorder.path()
        assert path is not None
        self._site_count, sites = self._view.graft_sites(self.path, path, self._renames)
        self._sites = {site: other for site, other, _, _ in sites}
        self._chosen = {
            site
            for site, _, line, file in sites
            if self._places is None or any(_is_at(place, file, line) for place in self._places)
        }

    def _note(self, event: int, other: int) -> None:
        last = self._runs[-1] if self._runs else None
        if last is None or self._is_broken or event - last[0] != other - last[1]:
            self._runs.append([event, other, 1])
        else:
            last[2] = event - last[0] + 1
        self._is_broken = False

    # Replacing values

    def _replace(self, torch: "Any", tensor: "Any", event: int, is_mutated: bool) -> bool:
        read = self._view.graft_read(self._reference, event)
        if read is None or tuple(tensor.shape) != read[1] or tensor.layout is not torch.strided:
            return False
        dtype = getattr(torch, read[0], None)
        if dtype is None:
            return False
        try:
            new = torch.frombuffer(read[2], dtype=dtype).reshape(read[1])
            new = new.to(device=tensor.device, dtype=tensor.dtype)
            if is_mutated or self._is_whole(torch, tensor):
                tensor.data.copy_(new)
            elif tensor.is_contiguous():
                tensor.data = new
            else:
                data = tensor.data.clone()  # keeps the value's layout in memory
                tensor.data = data.copy_(new)
        except (RuntimeError, TypeError):
            return False  # under a transform, or in memory that cannot be written
        return True

    def _is_whole(self, torch: "Any", tensor: "Any") -> bool:
        """Whether the memory itself is to be written, and not only this tensor changed.

        True for a parameter, and for a tensor that fills its memory and that nothing computed, such
        as an item of a state_dict, if no other value in that memory was seen. All tensors that
        share the memory are then correct.
        """
        storage = tensor.untyped_storage()
        if not storage.resizable() or tensor.grad_fn is not None:
            return False
        return type(tensor) is torch.nn.Parameter or (
            tensor.is_contiguous()
            and tensor.numel() * tensor.element_size() == storage.nbytes()
            and storage.data_ptr() not in self._storages
        )

    # Settings of the trace, by which `diff` knows the replaced events

    def write_start(self, path: str) -> None:
        from monitorch import _recorder

        _recorder.write_setting("graft.of", self._identity)

    def write_end(self) -> None:
        from monitorch import _recorder

        texts = [""]
        for event, other, count in self._runs:
            text = f"{event}:{other}:{count} "
            if len(texts[-1]) + len(text) > _SETTING_LIMIT:
                texts.append("")
            texts[-1] += text
        for number, text in enumerate(texts):
            _recorder.write_setting(f"graft.{number}", text)


def _is_at(place: "tuple[str, int]", file: str, line: int) -> bool:
    return line == place[1] and (file == place[0] or file.endswith("/" + place[0].lstrip("./")))
