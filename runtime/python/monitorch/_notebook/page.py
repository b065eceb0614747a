"""The HTML page of a recording, in a notebook or as a file."""

import html
import os


class Page:
    """The page of a trace. A notebook that displays this object displays the page."""

    __slots__ = ("trace", "title", "html", "height")

    trace: str
    """The trace's path."""
    title: str
    """The verdict in one line."""
    html: bytes
    """The contents of the page's file."""
    height: int
    """The height of the page in a notebook, in pixels."""

    def __init__(self, trace: str, title: str, data: bytes, height: int) -> None:
        self.trace = trace
        self.title = title
        self.html = data
        self.height = height

    def save(self, filename: str) -> str:
        """Writes the page to a file; returns its path."""
        from monitorch import _files

        _files.write(filename, self.html)
        return filename

    def _repr_html_(self) -> str:
        # An iframe separates the page's style and script from those of the notebook.
        return (
            f'<iframe srcdoc="{html.escape(self.html.decode())}" title="{html.escape(self.title)}" '
            f'style="width: 100%; height: {self.height}px; border: 1px solid #8884" '
            'sandbox="allow-scripts"></iframe>'
        )

    def __repr__(self) -> str:
        return f"Page(trace={self.trace!r}, title={self.title!r})"


def page(
    trace: "str | os.PathLike[str] | None" = None,
    filename: "str | None" = None,
    *,
    height: int = 640,
    max_size: int = 0,
) -> Page:
    """The HTML page of a trace: the verdict, a picture, and what each line saw.

    A notebook shows it below the cell. Without `trace`, it is the page of the last recording. The
    name that ranks' traces were given, or a folder of traces, is a page with a choice of the rank.

        monitorch.page()
        monitorch.page("run.mtrace", "run.html")

    filename  also writes the page there
    height    of the page in a notebook, in pixels
    max_size  the most bytes of the page; 0: 8 MiB
    """
    from monitorch import _view
    from monitorch._record import recording as _recording

    if trace is None:
        trace = _recording.find_last_path()
    if trace is None:
        raise ValueError("nothing was recorded yet: name a trace, monitorch.page('run.mtrace')")
    path = os.fspath(trace)
    data, title = _view.page(path, max_size)
    made = Page(path, html.unescape(title), data, height)
    if filename is not None:
        made.save(filename)
    return made
