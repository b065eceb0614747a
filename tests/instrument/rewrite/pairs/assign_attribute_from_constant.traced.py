_mt = __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 47b2817c5acd6bad5b275f2ac312e24b _mt assign_attribute_from_constant.py --all 2,2 1,0,<module> 1,0,f e2:1/1=a=b a1:5=a.x,-1~k .');  # Assign attribute from constant.
def f(a, b):
    not (_mt and _mt(0, a, b)); a.x = None; _mt and _mt(1, None)
    pass
