_mt = __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 769ffaf711c647d1e7bba93cb29ccf25 _mt return_constant.py --all 2,2 1,0,<module> 1,0,f e2:1/1=a=b r1:5=return~k .');  # Return constant.
def f(a, b):
    not (_mt and _mt(0, a, b)); not (_mt and _mt(1, 3)); return 3
