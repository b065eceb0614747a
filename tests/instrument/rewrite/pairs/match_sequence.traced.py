_mt = __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 b1379aef9fbc6ef5a6024cdb6448abbc _mt match_sequence.py --all 2,4 1,0,<module> 1,0,f e2:1/1=a=b b2:9?c395f084=c=d=e,-1 b2!1?8a9e8137=c,-2 r2:5=return,-3.1~r0 .');  # Match sequence.
def f(a, b):
    match (_mt and _mt(0, a, b)) or (a):
        case [c, d, *e]:
            not (_mt and _mt(1, c, d, e)); pass
        case (c, *_):
            not (_mt and _mt(2, c)); pass
    not (_mt and _mt(3, b)); return b
