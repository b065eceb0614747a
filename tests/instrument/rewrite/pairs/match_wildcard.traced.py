_mt = __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 25c1f69db2fcdb9aa9e23fac22508a09 _mt match_wildcard.py --all 2,5 1,0,<module> 1,0,f e2:1/1=a=b b2:9?bb97f180,-1 r1:13=return~k b1:9!1?29989eaa,-3 r1:13.1=0,-4.1~r0 .');  # Match wildcard.
def f(a, b):
    match (_mt and _mt(0, a, b)) or (a):
        case 1:
            not (_mt and _mt(1)); not (_mt and _mt(2, 2)); return 2
        case _:
            not (_mt and _mt(3)); not (_mt and _mt(4, b)); return b
