"""Flow pictures: the events recorded between `on` and `off`, drawn with arrows.

Events come from instrumented code, and from the running frame and the functions that it calls,
which are followed (_follow/follow.py). A picture is drawn from their trace.
"""

import os
import sys
from _thread import RLock
from atexit import register as _register_at_exit

from monitorch import _registry
from monitorch._flow import draw as _flow_draw
from monitorch._flow import nothing as _flow_nothing
from monitorch._flow.caller import find_caller, warn
from monitorch._flow.offer import offer, refuse_unknown
from monitorch._flow.scope import Scope
from monitorch._flow.settings import NAMES, Settings, check_optional, decode_path
from monitorch._flow.trace import Trace
from monitorch._notebook.display import RenderOutput as RenderOutput
from monitorch._record import automatic as _automatic
from monitorch._record import options as _options

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from types import FrameType, TracebackType
    from typing import Any, Literal, ParamSpec, TypeVar

    from typing_extensions import Unpack

    from monitorch._flow.settings import Named, Path

    P = ParamSpec("P")
    R = TypeVar("R")


class Runtime:
    """What `on` returns: the same functions as the module's."""

    output: "RenderOutput | None"
    """The picture that was drawn last."""

    def __init__(self) -> None:
        self._lock = RLock()
        self._settings = Settings()
        self._trace: "Trace | None" = None
        self._is_on = False
        self._has_been_on = False
        self._scope = Scope()
        self._hints: "dict[str, Any]" = {}
        self.output = None

    @property
    def is_on(self) -> bool:
        return self._is_on

    def on(
        self,
        *,
        show: "bool | None" = None,
        save: bool = False,
        save_dir: "Path" = "monitorch_outputs",
        file_prefix: str = "tensor_flow",
        max_nodes: int = 12,
        max_vector: int = 32,
        max_matrix: int = 8,
        max_slices: int = 6,
        fold: "Literal['auto', 'all', 'none']" = "auto",
        theme: "Literal['light', 'dark']" = "light",
        last: int = 100_000,
        include: "str | Iterable[str]" = (),
    ) -> "Runtime":
        """Starts recording for a picture. If it is on already, changes its settings and keeps its events.

            monitorch.on()
            y = torch.relu(x @ w)
            monitorch.off(filename="flow.png")

        Records the tensors that the calling frame assigns from this line on, and those of functions
        that are called meanwhile, if their file is under the working directory or is instrumented.

        show          show pictures; None: in a notebook only
        save          save each picture, also if `off` gets no filename
        save_dir      the folder of saved pictures
        file_prefix   the beginning of their names; the time follows it
        max_nodes     the number of boxes in a picture, the newest ones; 0: all
        max_vector    the number of values that a vector's table shows; 0: no tables of vectors
        max_matrix    the rows and columns that a matrix shows; 0: no tables at all
        max_slices    the matrices that a tensor of three or four dimensions shows; 0: no such tables
        fold          "auto" draws equal repetitions as one node, "all" others too, "none" each event
        theme         "light" or "dark"
        last          the number of events that are kept, approximately, until a picture is drawn
        include       also follow these modules or files, wherever they are:
                      "transformers.models.llama", or several such globs
        """
        given = dict(locals())
        settings = Settings(**{name: given[name] for name in NAMES})
        return self._begin(find_caller(), settings)

    def _begin(self, frame: "FrameType", settings: Settings) -> "Runtime":
        with self._lock:
            was_on = self._is_on
            self._drop_useless(settings)
            self._settings = settings
            if self._trace is None:
                self._trace = Trace(settings)
                _set_up_once()
            elif not was_on:
                self._trace.resume()
            self._is_on = self._has_been_on = True
            self._scope.begin(frame)
            self._scope.include(settings.include)
            try:
                self._follow(frame)
            except BaseException:
                if not was_on:
                    self._end()
                raise
        return self

    def _follow(self, frame: "FrameType") -> None:
        from monitorch import _recorder
        from monitorch._follow import follow as _follow

        _follow.begin(self, frame, self._scope.is_followed)
        hook = _registry.find_hook(frame)
        if hook is not None:
            _recorder.join(hook, frame)
        elif not self._scope.is_followed(frame.f_code.co_filename):
            warn(
                f"{frame.f_code.co_filename} is not followed: its source is not to be had. "
                "What it calls in files is"
            )

    def _drop_useless(self, settings: Settings) -> None:
        """Drops a trace that has no events to draw and does not fit these settings, and a trace
        that the program has ended."""
        trace = self._trace
        if trace is None:
            return
        if not trace.is_active:
            if not trace.is_empty:
                warn("what was recorded before has not been drawn: its recording was ended")
        elif not trace.is_empty or settings.sampling() == self._settings.sampling():
            return
        trace.close()
        self._trace = None

    def off(
        self,
        *,
        render: bool = True,
        filename: "Path | None" = None,
        show: "bool | None" = None,
        save: "bool | None" = None,
        clear: bool = True,
    ) -> "RenderOutput | None":
        """Stops, draws the recorded values, and returns the picture, or None if there is none.

        A warning says why there is no picture, and what to type.

            monitorch.off(filename="flow.png")

        filename  the picture's file in the folder `save_dir` of `on`; its suffix is the format: .png,
                  .svg, .pdf or .dot. Without a filename, a saved picture is named after the time
        show      None: as given to `on`
        save      None: as given to `on`, but True if there is a filename
        clear     forget the drawn events; False: the next picture shows them again
        render    False only stops: the next `off` draws, the next `on` adds to the events
        """
        with self._lock:
            if self._is_on:
                self._end()
            if not _options.check_switch("render", render):
                return None
            return self._draw(filename, show, save, clear)

    def _end(self) -> None:
        from monitorch._follow import follow as _follow

        _follow.end(self)
        self._scope.end()
        self._is_on = False
        if self._trace is not None:
            self._trace.pause()

    def flush(
        self,
        *,
        filename: "Path | None" = None,
        show: "bool | None" = None,
        save: "bool | None" = None,
        clear: bool = True,
    ) -> "RenderOutput | None":
        """Draws the recorded values as `off` does, and continues to record."""
        with self._lock:
            return self._draw(filename, show, save, clear)

    def _draw(
        self,
        filename: "Path | None",
        show: "bool | None",
        save: "bool | None",
        clear: bool,
    ) -> "RenderOutput | None":
        name = None if filename is None else decode_path("filename", filename)
        show = check_optional("show", show)
        save = check_optional("save", save)
        clear = _options.check_switch("clear", clear)
        trace = self._trace
        if trace is None:
            _flow_nothing.warn_of_no_trace(self._has_been_on)
            return None
        end = trace.next_event
        drawn = None
        if not trace.is_empty:
            drawn = _flow_draw.draw(trace, self._settings, self._scope, name, show, save)
        if drawn is not None:
            self.output = drawn
        _flow_nothing.warn_of_unused(self._scope)
        if drawn is None:
            _flow_nothing.warn_of_no_picture(self._scope, trace.is_empty)
        # The events of other lines are kept for those lines' pictures.
        if clear and (drawn is not None or trace.is_empty or not self._scope.has_lines):
            self._clear(trace, end)
        return drawn

    def _clear(self, trace: Trace, end: int) -> None:
        if self._is_on:
            trace.first_event = end
        else:
            trace.close()
            self._trace = None

    def lines(
        self, start: "int | None" = None, end: "int | None" = None, *, file: "Path | None" = None
    ) -> None:
        """Limits pictures to the lines from start to end, both included, of this file or of `file`.

            monitorch.lines(10, 40)
            monitorch.lines(10, 40, file="model.py")
            monitorch.lines()                          # removes the limit
        """
        name = None if file is None else decode_path("file", file)
        frame = find_caller()
        with self._lock:
            was_followed = self._scope.is_followed(name or frame.f_code.co_filename)
            self._scope.set_lines(start, end, name, frame)
            if self._is_on and not was_followed:
                self._follow(frame)

    def args(self, **hints: "Any") -> None:
        """Sets arguments that `run` passes to parameters of these names.

            monitorch.args(scale=0.5, bias=torch.ones(8, 8))
        """
        with self._lock:
            self._hints.update(hints)

    def run(self, fn: "Callable[..., Any]", /, **overrides: "Any") -> "Any":
        """Calls a function and finds the arguments that you do not pass.

        An argument is found in `args`, in a variable of that name in the calling function or
        module, or in the default. Otherwise it is made up by the parameter's annotation and name,
        and marked so in the picture.

            out = monitorch.run(block, x=torch.randn(8, 8))
        """
        from monitorch._flow import guess as _guess

        frame = find_caller()
        scopes = (dict(self._hints), frame.f_locals, frame.f_globals)
        return _guess.call(fn, overrides, scopes)

    def reset(self) -> None:
        """Stops, and forgets all recorded events, settings, lines and arguments."""
        with self._lock:
            self.off(render=False)
            if self._trace is not None:
                self._trace.close()
            self._trace = None
            self._settings = Settings()
            self._scope = Scope()
            self._hints = {}
            self._has_been_on = False
            self.output = None
            guess = sys.modules.get("monitorch._flow.guess")
            if guess is not None:
                guess.forget()

    def _enter_child(self) -> None:
        self._lock = RLock()  # another thread of the parent may have held the old one
        if self._trace is not None:
            self._trace.enter_child()

    def _finish(self) -> None:
        """At exit: reports events that were never drawn, or saves their picture if wanted."""
        if self._trace is None:
            return
        try:
            if self._is_on and not self._trace.is_empty and os.getpid() == _process:
                self._draw_at_exit(self._trace.next_event - self._trace.first_event)
        except Exception as error:
            _automatic._say(f"what was recorded could not be drawn: {error}")
        finally:
            if self._trace is not None:  # drawing may clear it
                self._trace.close()
                self._trace = None

    def _draw_at_exit(self, count: int) -> None:
        if self._settings.save:
            output = self.off(show=False)
            if output is not None:
                _automatic._say(
                    f"monitorch.off() was never called: drawn at exit, {output.saved_path}"
                )
        else:
            _automatic._say(
                f"{count:,} event{'' if count == 1 else 's'} recorded and never drawn: "
                "monitorch.off() was not called"
            )

    def __repr__(self) -> str:
        state = "on" if self._is_on else "off"
        trace = self._trace
        count = 0 if trace is None else trace.next_event - trace.first_event
        return f"<monitorch {state}, {count:,} event{'' if count == 1 else 's'} held>"


_RUNS_LATER = 0x20 | 0x80 | 0x200  # flags of code objects: generators, coroutines, both


class watch:
    """Draws what a `with` block assigns. Its arguments are those of `on`.

        with monitorch.watch(save=True):
            y = x @ w

    As a decorator it draws each call of a function.
    """

    def __init__(self, **settings: "Unpack[Named]") -> None:
        __tracebackhide__ = True
        refuse_unknown("watch", settings, NAMES)
        self._settings = Settings(**settings)
        self._around: "list[Settings | None]" = []

    def __enter__(self) -> Runtime:
        around = _runtime._settings if _runtime._is_on else None
        runtime = _runtime._begin(find_caller(), self._settings)
        self._around.append(around)
        return runtime

    def __exit__(
        self,
        kind: "type[BaseException] | None",
        error: "BaseException | None",
        trace: "TracebackType | None",
    ) -> None:
        around = self._around.pop()
        try:
            if around is None or not _runtime._is_on:
                _runtime.off()
            else:
                _runtime.flush(clear=False)
        except Exception as failure:
            if error is None:
                raise
            # The exception on its way is more important than this.
            _automatic._say(f"what was recorded could not be drawn: {failure}")
        finally:
            # Restores the state that was active before the block.
            if around is not None:
                _runtime._settings = around
                _runtime._scope.include(around.include)

    def __call__(self, function: "Callable[P, R]") -> "Callable[P, R]":
        from functools import wraps

        _check_watchable(function)

        @wraps(function)
        def watched(*positional: "P.args", **keyword: "P.kwargs") -> "R":
            with self:
                return function(*positional, **keyword)

        return watched


def _check_watchable(function: "Any") -> None:
    """Raises TypeError if a call would run nothing yet, so that there would be no picture."""
    __tracebackhide__ = True
    name = getattr(function, "__qualname__", None) or repr(function)
    if not callable(function):
        raise TypeError(f"monitorch.watch() decorates a function, not {function!r}")
    flags = getattr(getattr(function, "__code__", None), "co_flags", 0)
    if flags & _RUNS_LATER:
        raise TypeError(
            f"monitorch.watch() cannot decorate {name}: a call of a generator or an async function "
            "runs nothing yet; write `with monitorch.watch():` inside of it"
        )


def _set_up_once() -> None:
    global _process
    if not _process:
        _process = os.getpid()
        _register_at_exit(_runtime._finish)
        os.register_at_fork(after_in_child=_runtime._enter_child)


_process = 0  # the process id of the process that set up the above
_runtime = Runtime()

# The functions that the package offers.
on = offer(_runtime.on)
off = offer(_runtime.off)
flush = offer(_runtime.flush)
lines = offer(_runtime.lines)
args = offer(_runtime.args)
run = offer(_runtime.run)
reset = offer(_runtime.reset)
