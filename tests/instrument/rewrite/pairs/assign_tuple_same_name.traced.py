_mt = __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 f079ea2dc5e5e06fb53286c9bd06b262 _mt assign_tuple_same_name.py --all 2,2 1,0,<module> 1,0,f e2:1/1=a=b a1:5=c,-1~r0@0.0@0.1 .');  # Assign tuple same name.
def f(a, b):
    not (_mt and _mt(0, a, b)); c, c = a; _mt and _mt(1, c)
    pass
