# Module globals named.
_mt = __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 06d18f71506bc3e47ad0f42f55d96a48 _mt module_globals_named.py --all 1,2 1,0,<module> a2:1=names(globals~cglobals;k. a1=x~k .'); names = globals(); _mt and _mt(0, names)
x = 1; not (_mt and _mt(1, x))
