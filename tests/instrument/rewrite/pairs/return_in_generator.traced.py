_mt = __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 4bdf076a9ac1af55549e5e91bbf1423e _mt return_in_generator.py --all 2,2 1,0,<module> 1,0,f e2:1/1=a=b r2:5=return,-1.1~r0 .');  # Return in generator.
def f(a, b):
    not (_mt and _mt(0, a, b)); yield a
    not (_mt and _mt(1, b)); return b
