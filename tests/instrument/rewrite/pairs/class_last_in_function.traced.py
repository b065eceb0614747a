_mt = __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 2d21e8b65adacf548c67c763e881e942 _mt class_last_in_function.py --all 2,2 1,0,<module> 1,0,f e2:1/1=a a1:5=b,-1~r0 .');  # Class last in function.
def f(a):
    not (_mt and _mt(0, a)); b = a; _mt and _mt(1, b)
    class A(b): pass
