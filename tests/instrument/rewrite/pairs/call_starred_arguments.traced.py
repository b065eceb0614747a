_mt = __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 d8591fd9bfbd937507f9398ca8e12c75 _mt call_starred_arguments.py --all 2,2 1,0,<module> 1,0,f e2:1/1=a=b m2:5=a,-1,-1.1~madd_;r0xr1. .');  # Call starred arguments.
def f(a, b):
    not (_mt and _mt(0, a, b)); print(*a, **b)
    a.add_(*b); _mt and _mt(1, a)
    pass
