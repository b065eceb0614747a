_mt = __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 576d110e60317d0e8b8eb6ccf7e1ee1b _mt augmented_matmul.py --all 2,2 1,0,<module> 1,0,f e2:1/1=a=b a1:5=a,-1,-1.1~pr0r1. .');  # Augmented matmul.
def f(a, b):
    not (_mt and _mt(0, a, b)); a @= b; _mt and _mt(1, a)
    pass
