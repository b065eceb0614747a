_mt = __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 56f9766ab4aee3953b7692c072028e68 _mt return_yield_from.py --all 2,2 1,0,<module> 1,0,f e2:1/1=a=b r1:5=return,-1~k .');  # Return yield from.
def f(a, b):
    not (_mt and _mt(0, a, b)); return (_mt_v := ( (yield from a))) is not _mt and _mt and _mt(1, _mt_v) or _mt_v
