_mt = __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 9d7d3e92b03b756261eb19521ecefb2b _mt call_in_place.py --all 2,2 1,0,<module> 1,0,f e2:1/1=a=b m1:5=a=b,-1,-1.1~madd_;r0r1. .');  # Call in place.
def f(a, b):
    not (_mt and _mt(0, a, b)); a.add_(b); _mt and _mt(1, a, b)
    pass
