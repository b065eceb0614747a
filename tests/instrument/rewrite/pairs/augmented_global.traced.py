_mt = __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 3b50f6e83ff8285b6b913942ca8499dc _mt augmented_global.py --all 2,2 1,0,<module> 1,0,f e2:1/1=a=b a2:5=g(g,-1~pr0r1. .');  # Augmented global.
def f(a, b):
    global g
    not (_mt and _mt(0, a, b)); g += a; _mt and _mt(1, g)
    pass
