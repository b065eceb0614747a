from monitorch._record import Recording as Recording
from monitorch._record import Summary as Summary
from monitorch._record import record as record
from monitorch._record import stop as stop

__all__ = ["Recording", "Summary", "__version__", "record", "stop"]
__version__: str

def _instrumented(module_globals: dict[str, object], table: str) -> object: ...
