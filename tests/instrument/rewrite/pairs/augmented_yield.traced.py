_mt = __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 31143ecefd055c17a765c1db9c6a12a2 _mt augmented_yield.py --all 2,2 1,0,<module> 1,0,f e2:1/1=a=b a1:5=a,-1,-1.1~pr0k. .');  # Augmented yield.
def f(a, b):
    not (_mt and _mt(0, a, b)); a += yield b; _mt and _mt(1, a)
    pass
