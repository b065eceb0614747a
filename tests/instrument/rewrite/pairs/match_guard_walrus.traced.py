_mt = __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 4fc79298db0379d44187cb9f9f13aa67 _mt match_guard_walrus.py --all 2,4 1,0,<module> 1,0,f e2:1/1=a=b a2:20=d,c~pr0k. b:9?7f82143d=c,-2,c r2:5=return,-3.1~r0 .');  # Match guard walrus.
def f(a, b):
    match (_mt and _mt(0, a, b)) or (a):
        case c if (((d := c + 1) is not _mt and _mt and _mt(1, d) or d)):
            not (_mt and _mt(2, c)); pass
    not (_mt and _mt(3, b)); return b
