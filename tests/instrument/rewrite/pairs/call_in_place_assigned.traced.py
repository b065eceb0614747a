_mt = __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 1de517bcc468017900f92dde0f08fb1c _mt call_in_place_assigned.py --all 2,2 1,0,<module> 1,0,f e2:1/1=a=b a1:5=c,-1,-1.1~madd_;r0r1. .');  # Call in place assigned.
def f(a, b):
    not (_mt and _mt(0, a, b)); c = a.add_(b); _mt and _mt(1, c)
    pass
