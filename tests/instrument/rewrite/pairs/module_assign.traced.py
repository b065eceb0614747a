# Module assign.
_mt = __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 a7209e6f85cf2b75a343e4083a09ee07 _mt module_assign.py --all 1,2 1,0,<module> a2:1=x~k a1=y(-1~r0 .'); x = 1; _mt and _mt(0, x)
y = x; not (_mt and _mt(1, y))
