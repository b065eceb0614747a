_mt = __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 59fba57d3b31f5adf88f0e322542e46e _mt assign_tuple_nested.py --all 2,2 1,0,<module> 1,0,f e2:1/1=a=b a1:5=c=d=e=f,-1~r0@0.0.0@1.0.1.0@2.0.1*@3.1 .');  # Assign tuple nested.
def f(a, b):
    not (_mt and _mt(0, a, b)); (c, (d, *e)), f = a; _mt and _mt(1, c, d, e, f)
    pass
