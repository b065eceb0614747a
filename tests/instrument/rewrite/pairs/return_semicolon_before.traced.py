_mt = __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 552412fa0c491b985d66a3a7d500c482 _mt return_semicolon_before.py --all 2,3 1,0,<module> 1,0,f e2:1/1=a=b a1:5=c,-1~r0 r:12=return,-1,-2.1~pr0r1. .');  # Return semicolon before.
def f(a, b):
    not (_mt and _mt(0, a, b)); c = a; not (_mt and _mt(1, c)); return (_mt_v := ( c + b)) is not _mt and _mt and _mt(2, _mt_v) or _mt_v
