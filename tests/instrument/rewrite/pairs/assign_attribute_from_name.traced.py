_mt = __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 4d1e58b5ae55adcc7f1acd1c7c65f460 _mt assign_attribute_from_name.py --all 2,2 1,0,<module> 1,0,f e2:1/1=a=b a1:5=a.x,-1.1,-1~r0 .');  # Assign attribute from name.
def f(a, b):
    not (_mt and _mt(0, a, b)); a.x = b; _mt and _mt(1, b)
    pass
