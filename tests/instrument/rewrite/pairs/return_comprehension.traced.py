_mt = __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 0365c9d08c95d3622794a7cfe61b0a21 _mt return_comprehension.py --all 2,2 1,0,<module> 1,0,f e2:1/1=a=b r1:5=return,-1~her0 .');  # Return comprehension.
def f(a, b):
    not (_mt and _mt(0, a, b)); return (_mt_v := ( [c for c in a if c])) is not _mt and _mt and _mt(1, _mt_v) or _mt_v
