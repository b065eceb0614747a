_mt = __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 270ae08176fdda24036e955423a16101 _mt locals_named_method.py --all 2,3 1,0,<module> 1,0,f e2:1/1=a=b a1:5=c,a.locals~r0 r1=return,-1~r0 .');  # Locals named method.
def f(a, b):
    not (_mt and _mt(0, a, b)); c = a.locals; _mt and _mt(1, c)
    not (_mt and _mt(2, c)); return c
