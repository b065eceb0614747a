_mt = __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 f118ddb5307058a429e91c2fb42f013b _mt match_capture.py --all 2,3 1,0,<module> 1,0,f e2:1/1=a=b b2:9?0d987296=c,-1 r2:5=return,-2.1~r0 .');  # Match capture.
def f(a, b):
    match (_mt and _mt(0, a, b)) or (a):
        case c:
            not (_mt and _mt(1, c)); pass
    not (_mt and _mt(2, b)); return b
