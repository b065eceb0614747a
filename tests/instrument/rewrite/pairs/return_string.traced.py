_mt = __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 be586e042b4ccb2b143a3d16d8e0e02a _mt return_string.py --all 2,2 1,0,<module> 1,0,f e2:1/1=a=b r1:5=return~k .');  # Return string.
def f(a, b):
    not (_mt and _mt(0, a, b)); not (_mt and _mt(1, "text")); return "text"
