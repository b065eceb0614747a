_mt = __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 3d46ad3c909c47853e90099158936ef6 _mt augmented_name.py --all 2,2 1,0,<module> 1,0,f e2:1/1=a=b a1:5=a,-1,-1.1~pr0r1. .');  # Augmented name.
def f(a, b):
    not (_mt and _mt(0, a, b)); a += b; _mt and _mt(1, a)
    pass
