_mt = __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 42196381cd56bb87485e0c6099c69266 _mt match_first_statement.py --all 2,3 1,0,<module> 1,0,f e2:1/1=a=b b2:9?bb97f180,-1 r:17=return,-2.1~r0 .');  # Match first statement.
def f(a, b):
    match (_mt and _mt(0, a, b)) or (a):
        case 1: not (_mt and _mt(1)); not (_mt and _mt(2, b)); return b
