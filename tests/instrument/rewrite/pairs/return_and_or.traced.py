_mt = __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 3e7d42374b4a740a7ed86118ebca375e _mt return_and_or.py --all 2,2 1,0,<module> 1,0,f e2:1/1=a=b r1:5=return,-1,-1.1~okokr0r1.k. .');  # Return and or.
def f(a, b):
    not (_mt and _mt(0, a, b)); return (_mt_v := ( a and b or 0)) is not _mt and _mt and _mt(1, _mt_v) or _mt_v
