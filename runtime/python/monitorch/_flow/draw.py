"""Drawing of the recorded events to a picture, which is saved or shown."""

import os

from monitorch import _files
from monitorch._flow import file as _flow_file
from monitorch._notebook import display as _display
from monitorch._notebook.display import RenderOutput
from monitorch._record import automatic as _automatic

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from monitorch._flow.file import Format
    from monitorch._flow.scope import Scope
    from monitorch._flow.settings import Settings
    from monitorch._flow.trace import Trace
    from monitorch._view import Rendered


def draw(
    trace: "Trace",
    settings: "Settings",
    scope: "Scope",
    name: "str | None",
    show: "bool | None",
    save: "bool | None",
) -> "RenderOutput | None":
    """Draws the recorded events, and saves and shows the picture if wanted.

    Returns None if there is nothing to draw.
    """
    if not trace.is_there():
        raise FileNotFoundError(2, "What was recorded is not there any more", trace.path)
    if show is None:
        show = settings.show
    if save is None:
        save = settings.save or name is not None
    is_notebook = _display.is_notebook()
    is_shown = is_notebook if show is None else show
    path = _flow_file.make_path(settings.save_dir, settings.file_prefix, name)
    format = _flow_file.find_format(path)
    trace.flush()
    picture = _render(trace, settings, scope, format)
    data = picture["data"]
    if not picture["nodes"]:
        return None
    if save:
        _files.write(path, data)
    png = data if format == "png" else b""
    if _display.find_shell() is not None:
        png = _render(trace, settings, scope, "png", dpi=_display.SCREEN_DPI)["data"]
    output = RenderOutput(
        path if save else None,
        is_notebook and is_shown,
        picture["nodes"],
        png=png,
        svg=data if format == "svg" else b"",
    )
    if output.displayed:
        _display.show(output)
    elif is_shown:
        _print_place(path, data, save)
    return output


def _render(
    trace: "Trace", settings: "Settings", scope: "Scope", format: "Format", **more: "Any"
) -> "Rendered":
    from monitorch import _view

    lines, files = scope.patterns()
    return _view.render(
        trace.path,
        format,
        first_event=trace.first_event,
        max_nodes=settings.max_nodes,
        fold=settings.fold,
        theme=settings.theme,
        max_vector=settings.max_vector,
        max_matrix=settings.max_matrix,
        max_slices=settings.max_slices,
        lines=lines,
        files=files,
        title=_display.find_notebook(),
        **more,
    )


def _print_place(path: str, data: bytes, is_saved: bool) -> None:
    """Prints where the picture is: a script cannot show it."""
    import tempfile

    if not is_saved:
        folder = tempfile.mkdtemp(prefix="monitorch-picture-")
        path = os.path.join(folder, os.path.basename(path))
        _files.write(path, data)
    _automatic._say(f"the picture is in {path}")
