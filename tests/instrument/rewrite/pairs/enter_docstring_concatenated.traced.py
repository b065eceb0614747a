_mt = __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 910101d1694fddcef026ff3dc06c73e0 _mt enter_docstring_concatenated.py --all 2,3 1,0,<module> 1,0,f e2:1/1=a=b a2:5=c,-1~r0 r1=return,-1~r0 .');  # Enter docstring concatenated.
def f(a, b):
    "What" " f does."
    not (_mt and _mt(0, a, b)); c = a; _mt and _mt(1, c)
    not (_mt and _mt(2, c)); return c
