_mt = __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 990ab20e67b2249489159d37b0051564 _mt pep701_fstring_quotes.py --all 2,3 1,0,<module> 1,0,f e2:1/1=a a1:5=b~k r1=return,-1~r0 .');  # Pep701 fstring quotes.
def f(a):
    not (_mt and _mt(0, a)); b = f"{a["x"]} {f"{a}"}"; _mt and _mt(1, b)
    not (_mt and _mt(2, b)); return b
