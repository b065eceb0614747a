_mt = __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 46ce75e12f65dd28c86e42819ba56733 _mt assign_subscript_of_attribute.py --all 2,2 1,0,<module> 1,0,f e2:1/1=a=b m1:5=a.x,0,-1.1~k@0! .');  # Assign subscript of attribute.
def f(a, b):
    not (_mt and _mt(0, a, b)); (_mt_t := a.x)[b] = 1; not (_mt and _mt(1, _mt_t)); del _mt_t
    pass
