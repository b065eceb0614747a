_mt = __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 f0faf0e7597959f84c0523de6060ed99 _mt pep695_generic_function.py --all 2,3 1,0,<module> 1,0,f e2:1/1=a a1:5=b,-1~r0 r1=return,-1~r0 .');  # Pep695 generic function.
def f[T: int, *Ts, **P](a: T) -> T:
    not (_mt and _mt(0, a)); b = a; _mt and _mt(1, b)
    not (_mt and _mt(2, b)); return b
