_mt = __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 e7559564505efa2a2c6824794378a83c _mt with_parenthesised_tuple.py --all 2,2 1,0,<module> 1,0,f e2:1/1=a=b r3:5=return,-1~r0 .');  # With parenthesised tuple.
def f(a, b):
    with ((_mt and _mt(0, a, b)) or (a), b):
        pass
    not (_mt and _mt(1, a)); return a
