_mt = __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 6795ca864f060a1d1a5a0a3bf8c28f5d _mt return_none.py --all 2,2 1,0,<module> 1,0,f e2:1/1=a=b r1:5=return~k .');  # Return none.
def f(a, b):
    not (_mt and _mt(0, a, b)); not (_mt and _mt(1, None)); return None
