_mt = __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 f4e1f45d0737fd058f6bf9c120e02e43 _mt annotated_without_value.py --all 2,2 1,0,<module> 1,0,f e2:1/1=a=b a2:5=c,-1~r0 .');  # Annotated without value.
def f(a, b):
    c: int
    not (_mt and _mt(0, a, b)); c = a; _mt and _mt(1, c)
    pass
