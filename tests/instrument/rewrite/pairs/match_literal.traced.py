_mt = __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 525da3ec36b8c7fcf387d0cf7bfbff8e _mt match_literal.py --all 2,6 1,0,<module> 1,0,f e2:1/1=a=b b2:9?bb97f180,-1 a1:13=c,-2.1~r0 b1:9!1?4d21f903,-3 a1:13.1=c~k r1:5=return,c~r0 .');  # Match literal.
def f(a, b):
    match (_mt and _mt(0, a, b)) or (a):
        case 1:
            not (_mt and _mt(1)); c = b; not (_mt and _mt(2, c))
        case -1 | 'x' | None:
            not (_mt and _mt(3)); c = 2; not (_mt and _mt(4, c))
    not (_mt and _mt(5, c)); return c
