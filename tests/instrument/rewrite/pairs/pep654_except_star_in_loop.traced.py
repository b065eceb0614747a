_mt = __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 2b4586f1bd2493cf5a99d2e0f8d62442 _mt pep654_except_star_in_loop.py --all 2,6 1,0,<module> 1,0,f e2:1/1=a l1:5=b,-1~er0 a2:13=c,-1~cb;r0. b1:9?e6aeb1ec(ValueError~r0 a1:13.1=c~k r1:5=return,c~r0 .');  # Pep654 except star in loop.
def f(a):
    for b in (_mt and _mt(0, a)) or (a):
        try:
            not (_mt and _mt(1, b)); c = b(); not (_mt and _mt(2, c))
        except* ValueError:
            not (_mt and _mt(3)); c = 1; not (_mt and _mt(4, c))
    not (_mt and _mt(5, c)); return c
