_mt = __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 636f49508ab6b11e7bdd1389b7e70b08 _mt return_tuple_walrus.py --all 2,3 1,0,<module> 1,0,f e2:1/1=a=b a1:13=c,-1~r0 r:5=return,-2,-2.1~lr0r1. .');  # Return tuple walrus.
def f(a, b):
    not (_mt and _mt(0, a, b)); return (_mt_v := ( (((c := a) is not _mt and _mt and _mt(1, c) or c)), b)) is not _mt and _mt and _mt(2, _mt_v) or _mt_v
