_mt = __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 2ac7fd174258b1cafcfbf579f2394438 _mt class_decorated_in_function.py --all 2,3 1,0,<module> 1,0,f e2:1/1=a a1:5=b,-1~r0 r3=return,A~r0 .');  # Class decorated in function.
def f(a):
    not (_mt and _mt(0, a)); b = a; _mt and _mt(1, b)
    @register(b)
    class A: pass
    not (_mt and _mt(2, A)); return A
