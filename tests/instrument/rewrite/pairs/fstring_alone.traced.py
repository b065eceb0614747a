_mt = __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 88ce80e7e0189d2ca916f742f070e255 _mt fstring_alone.py --all 2,3 1,0,<module> 1,0,f e2:1/1=a=b a1:5=c~k r1=return,-1~r0 .');  # Fstring alone.
def f(a, b):
    not (_mt and _mt(0, a, b)); c = f"{a=} {(lambda: b)()} {a!r:{b}}"; _mt and _mt(1, c)
    not (_mt and _mt(2, c)); return c
