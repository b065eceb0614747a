_mt = __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 d5e9fcae462ba311fb963efcd3017445 _mt pep696_type_default.py --all 2,2 1,0,<module> 1,0,f e2:1/1=a r1:5=return,-1~r0 .');  # Pep696 type default.
def f[T = int](a: T):
    not (_mt and _mt(0, a)); not (_mt and _mt(1, a)); return a
