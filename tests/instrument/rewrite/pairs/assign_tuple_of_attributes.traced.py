_mt = __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 8a5cacb75c5cb8c612faab859977ec44 _mt assign_tuple_of_attributes.py --all 2,2 1,0,<module> 1,0,f e2:1/1=a=b a1:5=+a.x=+a.y,-1.1,-1~r0@0.0@1.1 .');  # Assign tuple of attributes.
def f(a, b):
    not (_mt and _mt(0, a, b)); a.x, a.y = b; _mt and _mt(1, a, a)
    pass
