from monitorch import monitor as monitor
from monitorch import spy as spy
from monitorch import tracer as tracer
from monitorch import tracker as tracker
from monitorch._flow.flow import RenderOutput as RenderOutput
from monitorch._flow.flow import args as args
from monitorch._flow.flow import flush as flush
from monitorch._flow.flow import lines as lines
from monitorch._flow.flow import off as off
from monitorch._flow.flow import on as on
from monitorch._flow.flow import reset as reset
from monitorch._flow.flow import run as run
from monitorch._flow.flow import watch as watch
from monitorch._load import Events as Events
from monitorch._load import load as load
from monitorch._notebook.page import Page as Page
from monitorch._notebook.page import page as page
from monitorch._record.nonfinite import NonFinite as NonFinite
from monitorch._record.recording import Recording as Recording
from monitorch._record.recording import Summary as Summary
from monitorch._record.recording import record as record
from monitorch._record.recording import step as step
from monitorch._record.recording import stop as stop

__all__ = [
    "Events",
    "NonFinite",
    "Page",
    "RenderOutput",
    "Recording",
    "Summary",
    "__version__",
    "args",
    "flush",
    "lines",
    "load",
    "off",
    "on",
    "page",
    "record",
    "reset",
    "run",
    "step",
    "stop",
    "watch",
]
__version__: str

def load_ipython_extension(ipython: object) -> None: ...
def unload_ipython_extension(ipython: object) -> None: ...
def _instrumented(module_globals: dict[str, object], table: str) -> object: ...
