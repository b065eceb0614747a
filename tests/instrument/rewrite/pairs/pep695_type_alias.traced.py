_mt = __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 4b44e83d7817da9865f5bb71ba145efb _mt pep695_type_alias.py --all 2,4 1,0,<module> 1,0,f e2:1/1=a a1:5=b,-1~r0 a2=c,-1~r0 r1=return,-1~r0 .');  # Pep695 type alias.
def f(a):
    not (_mt and _mt(0, a)); b = a; _mt and _mt(1, b)
    type X[T] = list[T]
    c = b; _mt and _mt(2, c)
    not (_mt and _mt(3, c)); return c
