_mt = __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 3ac15928bf0a57417a3d3d6ae2c8a0d5 _mt assign_tuple_star.py --all 2,2 1,0,<module> 1,0,f e2:1/1=a=b a1:5=c=d=e,-1~r0@0.0@1*@2-1 .');  # Assign tuple star.
def f(a, b):
    not (_mt and _mt(0, a, b)); c, *d, e = a; _mt and _mt(1, c, d, e)
    pass
