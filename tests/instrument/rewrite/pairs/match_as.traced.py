_mt = __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 689c596fdcadc2ba7aa3bd7503e78c20 _mt match_as.py --all 2,4 1,0,<module> 1,0,f e2:1/1=a=b b2:9?7ec73788=c,-1 b2!1?5ab6bfdc=c,-2 r2:5=return,-3.1~r0 .');  # Match as.
def f(a, b):
    match (_mt and _mt(0, a, b)) or (a):
        case (1 | 2) as c:
            not (_mt and _mt(1, c)); pass
        case [int() as c, _]:
            not (_mt and _mt(2, c)); pass
    not (_mt and _mt(3, b)); return b
