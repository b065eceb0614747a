_mt = __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 ee265023a1917d1b5dacb8b106fab6cd _mt return_comparison.py --all 2,2 1,0,<module> 1,0,f e2:1/1=a=b r1:5=return,-1,-1.1~ukr0r1. .');  # Return comparison.
def f(a, b):
    not (_mt and _mt(0, a, b)); return (_mt_v := ( 0 < a <= b)) is not _mt and _mt and _mt(1, _mt_v) or _mt_v
