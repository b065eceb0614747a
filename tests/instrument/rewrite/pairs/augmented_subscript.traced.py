_mt = __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 49240d17b775587d5b6db335cc39a1a2 _mt augmented_subscript.py --all 2,2 1,0,<module> 1,0,f e2:1/1=a=b m1:5=a,-1,-1.1~pi0r0r1.@0! .');  # Augmented subscript.
def f(a, b):
    not (_mt and _mt(0, a, b)); a[0] += b; _mt and _mt(1, a)
    pass
