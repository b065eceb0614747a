"""Which line of a PyTorch model did it.

Instrumented files import this module; without a recorder switched on, what they find here
is nothing more than an entry in the list of instrumented modules.
"""

from monitorch._registry import add as _instrumented

__all__ = ["__version__"]
__version__ = "0.1.0"
