_mt = __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 cf0f1def1e5fa4b7f4e4b8da73abd6a9 _mt assign_conditional.py --all 2,2 1,0,<module> 1,0,f e2:1/1=a=b a1:5=c,-1,-1.1~or1r0k. .');  # Assign conditional.
def f(a, b):
    not (_mt and _mt(0, a, b)); c = a if b else 0; _mt and _mt(1, c)
    pass
