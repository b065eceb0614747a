# Function decorated.
@(_mt := __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 709520ae98f4bee34dfd754a5209fe90 _mt function_decorated.py --all 2,2 1,0,<module> 2,0,f e3:1/1=a r1:5=return,-1~r0 .')) and () or (cache)
def f(a):
    not (_mt and _mt(0, a)); not (_mt and _mt(1, a)); return a
