_mt = __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 6c659a3791cdad73b0b0a00e55bbeeff _mt match_guard.py --all 2,3 1,0,<module> 1,0,f e2:1/1=a=b b2:9?2288d8ee=c=d,-1,c,d r2:5=return,-2.1~r0 .');  # Match guard.
def f(a, b):
    match (_mt and _mt(0, a, b)) or (a):
        case [c, d] if c < d:
            not (_mt and _mt(1, c, d)); pass
    not (_mt and _mt(2, b)); return b
