_mt = __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 4bb20085b5a7192be36a952a8e019764 _mt vars_named.py --all 2,3 1,0,<module> 1,0,f e2:1/1=a=b a1:5=c(vars~cvars;k. r1=return,-1~r0 .');  # Vars named.
def f(a, b):
    not (_mt and _mt(0, a, b)); c = vars(); _mt and _mt(1, c)
    not (_mt and _mt(2, c)); return c
