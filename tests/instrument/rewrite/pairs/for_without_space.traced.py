_mt = __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 b66a17ad1e3c00ec9edfd997281f9803 _mt for_without_space.py --all 2,3 1,0,<module> 1,0,f e2:1/1=a=b l1:5=d,-1~elr0. r1=return,-2.1~r0 .');  # For without space.
def f(a, b):
    for d in(_mt and _mt(0, a, b)) or ([a]): not (_mt and _mt(1, d)); pass
    not (_mt and _mt(2, b)); return b
