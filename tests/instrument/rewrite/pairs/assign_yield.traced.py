_mt = __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 9c34226fc65317eb3be096d2cb4c5a60 _mt assign_yield.py --all 2,2 1,0,<module> 1,0,f e2:1/1=a=b a1:5=c,-1~k .');  # Assign yield.
def f(a, b):
    not (_mt and _mt(0, a, b)); c = yield a; _mt and _mt(1, c)
    pass
