"""Warnings that say why there is no picture, and what to type."""

from monitorch._flow.caller import warn

TYPE_CHECKING = False
if TYPE_CHECKING:
    from monitorch._flow.scope import Scope

_SHOWN = 3


def warn_of_no_trace(has_been_on: bool) -> None:
    """Warns that `off` or `flush` was called and no events are held."""
    if has_been_on:
        warn("nothing to draw: nothing was recorded since the last picture; monitorch.on() begins")
    else:
        warn("nothing to draw: monitorch.on() was not called before")


def warn_of_no_picture(scope: "Scope", is_empty: bool) -> None:
    """Warns that recording was on and there is nothing to draw."""
    if scope.has_lines and not is_empty:
        warn(
            f"nothing to draw: {scope} assigned no tensor. Other lines were recorded; call "
            "monitorch.lines() to include them"
        )
        return
    warn(f"nothing to draw: no line that was followed assigned a tensor{_explain(scope)}")


def _explain(scope: "Scope") -> str:
    from monitorch._follow import follow as _follow

    text = "".join(f". {note}" for note in _follow.list_notes()[:_SHOWN])
    names = scope.left_out()
    if names:
        more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
        text += (
            f". Code outside of the working directory ran and is not followed: "
            f"{', '.join(names[:_SHOWN])}{more}; to follow it: monitorch.on(include={names[0]!r})"
        )
    return text


def warn_of_unused(scope: "Scope") -> None:
    """Warns of globs of `include` that match no code."""
    from monitorch._record import included as _included

    for text in _included.explain_unused(scope):
        warn(text)
