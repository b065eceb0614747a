_mt = __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 587049f1d5cd4b2f41388c2e34dbf64f _mt delete_tuple.py --all 2,2 1,0,<module> 1,0,f e2:1/1=a=b a1:5=c=d,-1~r0 .');  # Delete tuple.
def f(a, b):
    not (_mt and _mt(0, a, b)); c = d = a; _mt and _mt(1, c, d)
    del (c, d), b
    pass
