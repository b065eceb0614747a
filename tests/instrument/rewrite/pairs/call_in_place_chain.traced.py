_mt = __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 00ceac41b4d3e4e93f08b9645d7dc8bd _mt call_in_place_chain.py --all 2,2 1,0,<module> 1,0,f e2:1/1=a=b m1:5=a=b,-1,-1.1~mmul_;madd_;r0k.r1. .');  # Call in place chain.
def f(a, b):
    not (_mt and _mt(0, a, b)); a.add_(1).mul_(b); _mt and _mt(1, a, b)
    pass
