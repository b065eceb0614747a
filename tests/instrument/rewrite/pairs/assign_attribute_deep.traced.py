_mt = __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 b029448ed12a172db530367aec1498f6 _mt assign_attribute_deep.py --all 2,2 1,0,<module> 1,0,f e2:1/1=a=b a1:5=a.x.y,-1.1,a.x~pr0k. .');  # Assign attribute deep.
def f(a, b):
    not (_mt and _mt(0, a, b)); a.x.y = _mt_t = b + 1; not (_mt and _mt(1, _mt_t)); del _mt_t
    pass
