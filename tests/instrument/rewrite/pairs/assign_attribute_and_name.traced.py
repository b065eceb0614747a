_mt = __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 3074ff389c0a1221e3b73a9252582e50 _mt assign_attribute_and_name.py --all 2,2 1,0,<module> 1,0,f e2:1/1=a=b a1:5=a.x=c,-1.1,-1~pr0k. .');  # Assign attribute and name.
def f(a, b):
    not (_mt and _mt(0, a, b)); a.x = c = b + 1; _mt and _mt(1, c, c)
    pass
