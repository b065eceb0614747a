_mt = __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 5f7dedd2f7d808ef52cb2695eb1804ca _mt return_in_finally.py --all 2,3 1,0,<module> 1,0,f e2:1/1=a=b r2:9=return,-1~ca;r0. r2.1=0,-2.1~cb;r0. .');  # Return in finally.
def f(a, b):
    try:
        not (_mt and _mt(0, a, b)); return (_mt_v := ( a())) is not _mt and _mt and _mt(1, _mt_v) or _mt_v
    finally:
        return (_mt_v := ( b())) is not _mt and _mt and _mt(2, _mt_v) or _mt_v
