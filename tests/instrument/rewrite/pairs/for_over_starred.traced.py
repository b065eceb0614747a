_mt = __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 242cd147454c81a4b21aabd4a8dd566b _mt for_over_starred.py --all 2,3 1,0,<module> 1,0,f e2:1/1=a=b l1:5=d,-1,-1.1~elxr0r1. r2=return,-2~r0 .');  # For over starred.
def f(a, b):
    for d in (_mt and _mt(0, a, b)) or (*a, b):
        not (_mt and _mt(1, d)); pass
    not (_mt and _mt(2, a)); return a
