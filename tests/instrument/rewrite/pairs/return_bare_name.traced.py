_mt = __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 424a189597f0073a8176e547cfb4724b _mt return_bare_name.py --all 2,2 1,0,<module> 1,0,f e2:1/1=a=b r1:5=return,-1~r0 .');  # Return bare name.
def f(a, b):
    not (_mt and _mt(0, a, b)); not (_mt and _mt(1, a)); return a
