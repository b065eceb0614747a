_mt = __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 bc512e4da1fee8693a109a871c74b32a _mt assign_subscript_yield.py --all 2,2 1,0,<module> 1,0,f e2:1/1=a=b m1:5=+a.x,-1.1,0~k@0! .');  # Assign subscript yield.
def f(a, b):
    not (_mt and _mt(0, a, b)); a.x[0] = yield b; _mt and _mt(1, a)
    pass
