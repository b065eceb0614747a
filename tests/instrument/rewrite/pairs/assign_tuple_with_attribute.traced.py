_mt = __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 6521b7be299310503ca941988efbb543 _mt assign_tuple_with_attribute.py --all 2,2 1,0,<module> 1,0,f e2:1/1=a=b a1:5=+a.x=c,-1.1,-1~r0@0.0@1.1 .');  # Assign tuple with attribute.
def f(a, b):
    not (_mt and _mt(0, a, b)); a.x, c = b; _mt and _mt(1, a, c)
    pass
