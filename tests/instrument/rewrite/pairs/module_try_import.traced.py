# Module try import.
try:
    _mt = __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 95499593feccd79ee3ae9ce850ce7f09 _mt module_try_import.py --all 1,3 1,0,<module> b4:1?eceb8d68=error(ImportError~r0 a1:5=torch~k a1:1=x(2~r0 .'); import torch
except ImportError as error:
    not (_mt and _mt(0, error)); torch = None; not (_mt and _mt(1, torch))
x = torch; not (_mt and _mt(2, x))
