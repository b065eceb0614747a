_mt = __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 e85b8c166a6773ab961e969898434e62 _mt return_nothing.py --all 2,2 1,0,<module> 1,0,f e2:1/1=a=b r1:5=-return .');  # Return nothing.
def f(a, b):
    not (_mt and _mt(0, a, b)); not (_mt and _mt(1)); return
