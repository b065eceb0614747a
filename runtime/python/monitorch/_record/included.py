"""Code that a recording follows without instrumentation: `monitorch.record(include=…)`."""

from monitorch import _nearest
from monitorch._compile import selected as _selected
from monitorch._flow.scope import Scope
from monitorch._follow import follow as _follow

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import FrameType

_SHOWN = 3


class Included:
    """The modules and files that the globs name, wherever they are: loaded already, or imported
    later."""

    def __init__(self, globs: "tuple[str, ...]") -> None:
        self._scope = Scope()
        self._scope.include(globs)
        self._frame: "FrameType | None" = None

    def add_frame(self, frame: "FrameType") -> None:
        """Follows this frame too, and the code that `monitorch.on()` would follow if it were called
        there."""
        self._scope.begin(frame)
        self._frame = frame

    def begin(self, frame: "FrameType") -> None:
        """Follows the added frame, or else this one, its callers, and all functions called from now
        on."""
        first, self._frame = self._frame or frame, None
        _follow.begin(self, first, self._scope.is_followed)

    def end(self) -> None:
        _follow.end(self)

    def explain_unused(self) -> "list[str]":
        """A sentence for each glob that matches no code."""
        return explain_unused(self._scope)

    def explain_nothing(self) -> str:
        """The reason why nothing was recorded."""
        notes = "".join(f". {note}" for note in _follow.list_notes()[:_SHOWN])
        if not self._scope.unused_globs() and not self._scope.has_caller:
            return f"the modules of include= ran no line that assigns a value{notes}"
        text = f"no line that was followed ran{notes}"
        names = [name for name in self._scope.left_out() if name == "__main__" or name[0] != "_"]
        if not names:
            return text
        return (
            f"{text}. Code of {_nearest.list_some(names)} ran and was not followed; record it with "
            f"include={names[0]!r}"
        )


def explain_unused(scope: Scope) -> "list[str]":
    """A sentence for each glob of `include` that matches no code."""
    return [
        f"include={glob!r}: no code of such a module ran{_explain_glob(glob, scope.left_out())}"
        for glob in scope.unused_globs()
    ]


def _explain_glob(glob: str, left_out: "list[str]") -> str:
    import sys

    if _is_loaded(glob):
        return "; it is loaded, but none of its Python functions was called"
    found = _nearest.find(glob, left_out) or _nearest.find(glob, sorted(sys.modules))
    if found:
        return _nearest.ask(found)
    return "; expected a module such as 'transformers.models.llama', or a path"


def _is_loaded(text: str) -> bool:
    import sys

    glob = _selected.Glob(text)
    for name, module in list(sys.modules.items()):
        file = getattr(module, "__file__", None)
        if glob.matches(name, file if isinstance(file, str) else ""):
            return True
    return False
