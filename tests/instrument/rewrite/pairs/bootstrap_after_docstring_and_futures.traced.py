"""What it is."""
from __future__ import annotations; from __future__ import (
    generator_stop,
); _mt_t = __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented
_mt = _mt_t(globals(), 'monitorch2 3ee59982af4e846afb3142d04f10faf2 _mt bootstrap_after_docstring_and_futures.py --forward 2,2 1,0,<module> 6,0,A.forward e7:5/1=self=x r1:9=return,-1.1~r0 .'); _mt_t = None; import torch
class A:
    def forward(self, x):
        not (_mt and _mt(0, self, x)); not (_mt and _mt(1, x)); return x
