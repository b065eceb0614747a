_mt = __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 19d4012da161e08637cf7bed5668756a _mt for_subscript_target.py --all 2,3 1,0,<module> 1,0,f e2:1/1=a=b l1:5=b,-1~er0@0! r2=return,-2.1~r0 .');  # For subscript target.
def f(a, b):
    for b[0] in (_mt and _mt(0, a, b)) or (a):
        not (_mt and _mt(1, b)); pass
    not (_mt and _mt(2, b)); return b
