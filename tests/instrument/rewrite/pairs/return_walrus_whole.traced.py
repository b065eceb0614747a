_mt = __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 035890c33c124256d24434c8130c3b3d _mt return_walrus_whole.py --all 2,3 1,0,<module> 1,0,f e2:1/1=a=b a1:13=c,-1,-1.1~pr0r1. r:5=return,-2,-2.1~pr0r1. .');  # Return walrus whole.
def f(a, b):
    not (_mt and _mt(0, a, b)); return (_mt_v := ( (((c := a + b) is not _mt and _mt and _mt(1, c) or c)))) is not _mt and _mt and _mt(2, _mt_v) or _mt_v
