# Enter all kinds of parameters.
def f(a, b=(_mt := __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 73ad4078bf72a19a1d64d24dce47aa1f _mt enter_all_kinds_of_parameters.py --all 2,2 1,0,<module> 1,0,f e2:1/1=a=b=c=d=e=f=g~k@3*@6** r1:5=return,-1~r0 .')) and () or (1), /, c: int = 2, *d, e, f=3, **g):
    not (_mt and _mt(0, a, b, c, d, e, f, g)); not (_mt and _mt(1, a)); return a
