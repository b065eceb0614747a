"""Recorded lines in code that torch.compile compiles.

Code that torch.compile traces is not run, so a hook in it can see no values. Dynamo, its tracer, is
made to trace another function in the hook's place. That function either breaks the graph, so that
the hook itself is called between two graphs, or does nothing, which leaves the line out. Dynamo
notices when a module's `_mt` changes between None and its hook, and compiles for both.

Nothing here imports torch: hooks are announced to Dynamo after the program has loaded it.
"""

import sys
from _thread import allocate_lock
from _weakref import ref

from monitorch._imports import Watch

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import CodeType, FrameType, ModuleType
    from typing import Any

_DYNAMO = "torch._dynamo"

_announced: "list[object]" = []  # kept alive, since Dynamo identifies them by their addresses
_waiting: "list[tuple[ref[Any], str]]" = []  # hooks to be announced when Dynamo is loaded
_seen: "dict[str, dict[tuple[str, str], tuple[str, bool]]]" = {"break": {}, "skip": {}}
_MODULE = "module"  # the mode of the hooks that torch calls around a module
_SAVE = "save"  # the mode of spy_save
_warned: "set[str]" = set()
_mode: "str | None" = None  # while something is recorded
_is_quiet = False
_has_left_out_savers = False
_must_reset = False  # Dynamo does not notice when recording has ended
_save_lock = allocate_lock()
_context_count = 0  # open contexts in which spy_save saves
_is_saving = False  # whether a context is open; Dynamo compiles for both


def begin(mode: str, is_quiet: bool) -> None:
    """Called when recording begins."""
    global _mode, _is_quiet
    _mode = mode
    _is_quiet = is_quiet
    # Compiled code is not traced again, but the new trace must have its notes too.
    for text, is_warning in list(_seen[mode].values()):
        _note(text, is_warning)
    if _is_loaded():
        _announce_waiting()
    _await_dynamo()


def end() -> None:
    """Called when recording ends."""
    global _mode
    _mode = None
    if _must_reset:
        sys.modules[_DYNAMO].reset()
    if not any(mode in (_MODULE, _SAVE) for _, mode in _waiting):
        _watch.end()


def add(hook: object, mode: str) -> None:
    """Announces a module's hook, which was made for this mode."""
    _waiting.append((ref(hook, _forget), mode))
    if _is_loaded():
        _announce_waiting()


def add_module_hook(hook: object) -> None:
    """Makes a graph end at this function, which torch calls around a module, so that it is called.

    If the graph may not end there, the call is left out.
    """
    add(hook, _MODULE)
    _await_dynamo()


def add_save(function: object) -> None:
    """Makes a graph end at each call of spy_save while a context is open, and at no other."""
    add(function, _SAVE)
    _await_dynamo()


def begin_saving() -> None:
    """Called when a context is opened, in any thread."""
    _count_contexts(1)


def end_saving() -> None:
    """Called when a context is closed."""
    _count_contexts(-1)


def _count_contexts(step: int) -> None:
    global _context_count, _is_saving
    with _save_lock:
        _context_count += step
        _is_saving = _context_count > 0


def _await_dynamo() -> None:
    """Makes sure that hooks are announced when Dynamo is loaded."""
    if not _is_loaded():
        _watch.begin()


def forget_compiled() -> None:
    """Discards compiled code after the hooks of modules have changed, which Dynamo does not
    notice."""
    if _is_loaded():
        sys.modules[_DYNAMO].reset()


def _forget(gone: "ref[Any]") -> None:
    """Removes a hook that was deleted with its module before Dynamo was loaded."""
    for mode in ("break", "skip", _MODULE, _SAVE):
        if (gone, mode) in _waiting:
            _waiting.remove((gone, mode))


def _is_loaded() -> bool:
    spec = getattr(sys.modules.get(_DYNAMO), "__spec__", None)
    return spec is not None and not getattr(spec, "_initializing", False)


def _is_dynamo(name: str) -> bool:
    return name == _DYNAMO


def _announce_to(dynamo: "ModuleType") -> None:
    _announce_waiting()


def _announce_waiting() -> None:
    while _waiting:
        try:
            reference, mode = _waiting.pop(0)
        except IndexError:  # another thread removed it
            return
        hook = reference()
        if hook is None:
            continue
        _announced.append(hook)
        try:
            _announce(hook, mode)
        except Exception as error:
            _note(f"torch.compile could not be notified of the recorded lines: {error}", True)


_watch = Watch(_is_dynamo, _announce_to)


def _announce(hook: "Any", mode: str) -> None:
    """Registers with Dynamo the function that it traces in the hook's place."""
    global _must_reset
    dynamo = sys.modules[_DYNAMO]
    _leave_out_savers(dynamo)
    substitute = getattr(dynamo.decorators, "substitute_in_graph", None)
    if substitute is None:
        # Before torch 2.5. A builtin function breaks the graph at each call, but code compiled that
        # way does not notice when the hook is removed.
        _must_reset = True
        return
    must_break = dynamo.assume_constant_result(_make_decision(dynamo, mode))
    break_graph = dynamo.graph_break

    def visit(site: int, *values: object) -> None:
        if must_break(site):
            break_graph()

    def visit_module(*arguments: object) -> None:
        if must_break(0):
            break_graph()

    def visit_save(*arguments: object, **named: object) -> None:
        if _is_saving and must_break(0):
            break_graph()

    visits = {_MODULE: visit_module, _SAVE: visit_save}
    substitute(hook, skip_signature_check=True)(visits.get(mode, visit))


def _leave_out_savers(dynamo: "Any") -> None:
    """Excludes the functions that save tensors from graphs: they run between two graphs."""
    global _has_left_out_savers
    rules: "Any" = getattr(dynamo, "trace_rules", None)
    if not _has_left_out_savers and hasattr(rules, "add"):
        _has_left_out_savers = True
        rules.add("monitorch.spy")


def _make_decision(dynamo: "Any", mode: str) -> "Callable[[int], bool]":
    """The function that decides, once for each site that Dynamo traces, whether to break the
    graph."""

    def must_break(site: int) -> bool:
        try:
            is_left_out = mode == "skip" or _must_be_whole(dynamo)
            if mode not in _LEFT_OUT:
                _report(mode, is_left_out)
            elif is_left_out:
                _warn_once(_LEFT_OUT[mode])
        except Exception:
            # Another version of torch with other internals: break as at any function that cannot be
            # traced.
            return mode != "skip"
        return not is_left_out

    return must_break


def _must_be_whole(dynamo: "Any") -> bool:
    """Whether a graph break would be an error in the code being traced."""
    tracer = dynamo.symbolic_convert.InstructionTranslator.current_tx()
    return bool(
        tracer.one_graph
        or getattr(tracer, "error_on_graph_break", False)
        or getattr(tracer, "export", False)
        # In the body of an operator such as cond.
        or tracer.output.current_tracer.parent is not None
        # Under vmap or grad: Dynamo cannot start a frame inside one.
        or sys.modules["torch"]._C._functorch.peek_interpreter_stack() is not None
    )


def _report(mode: str, is_left_out: bool) -> None:
    """Writes one note for each function, and warns once if recording slows lines or leaves them out
    unasked."""
    from monitorch._record import hooks as _hooks

    place = _find_place()
    if place is None:
        return
    file, line, function = place
    if not is_left_out:
        what = "torch.compile breaks its graph at each recorded line"
        advice = "that is slower, as long as a TensorSaver watches them"
        if _hooks.is_recording():
            advice = 'that is slower; compile="skip" leaves these lines out instead'
    elif mode == "skip":
        what = "compiled by torch.compile: its lines are left out"
        advice = ""
    else:
        what = "compiled into a graph that may not be broken: its lines are left out"
        advice = "record a run without fullgraph=True or torch.compile to see them"
    text = f"{file}:{line}: {function}: {what}"
    if (file, function) not in _seen[mode]:
        _seen[mode][file, function] = text, bool(advice)
        if _mode == mode:
            _note(text, bool(advice))
    if advice and not _is_quiet and what not in _warned:
        _warned.add(what)
        name = file.rpartition("/")[2]
        _warn(f"monitorch: {function} ({name}:{line}): {what}; {advice}", file, line)


_LEFT_OUT = {
    _MODULE: "modules in a graph that may not be broken are not traced",
    _SAVE: "spy_save in a graph that may not be broken saves nothing",
}


def _warn_once(what: str) -> None:
    if not _is_quiet and what not in _warned:
        _warned.add(what)
        _warn(f"monitorch: {what}; compile without fullgraph=True for that", "torch.compile", 1)


def _find_place() -> "tuple[str, int, str] | None":
    """The place in the program that is being traced: file, line and function."""
    frame: "FrameType | None" = sys._getframe()
    while frame is not None:
        # A function that Dynamo traces into has a translator of its own, in a nearer frame than
        # that of its caller. The nearest translator is that of `visit`.
        translator = frame.f_locals.get("self")
        code = getattr(translator, "f_code", None)
        if type(code) is type(frame.f_code) and code.co_filename != __file__:
            return code.co_filename, translator.lineno, _find_name(code)  # type: ignore[union-attr]
        frame = frame.f_back
    return None


def _find_name(code: "CodeType") -> str:
    """The name of a function. The code after a graph break has the name of the whole function."""
    name: str = getattr(code, "co_qualname", code.co_name)
    path, dot, last = name.rpartition(".")
    if last.startswith(_RESUMED):
        last = last[len(_RESUMED) :].rpartition("_at_")[0]
    return path + dot + last


_RESUMED = "torch_dynamo_resume_in_"


def _note(text: str, is_warning: bool) -> None:
    from monitorch import _recorder
    from monitorch._record import hooks as _hooks

    _recorder.note(_hooks.clean(text), is_warning)


def _warn(text: str, file: str, line: int) -> None:
    import warnings

    try:
        warnings.warn_explicit(text, UserWarning, file, line)
    except Warning:
        pass  # turned into errors, which no program expects from its own lines
