_mt = __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 bef4f5ea63cbfef9e273922182b2e191 _mt assign_global.py --all 2,2 1,0,<module> 1,0,f e2:1/1=a=b a2:5=g,-1~r0 .');  # Assign global.
def f(a, b):
    global g
    not (_mt and _mt(0, a, b)); g = a; _mt and _mt(1, g)
    pass
