_mt = __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 f92e48854d99751ab1f22380d489cbe2 _mt return_bare_global.py --all 2,2 1,0,<module> 1,0,f e2:1/1 r1:5=return(GLOBAL~r0 .');  # Return bare global.
def f():
    not (_mt and _mt(0)); not (_mt and _mt(1, GLOBAL)); return GLOBAL
