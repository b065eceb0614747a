_mt = __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 5cf44bd2975b644e89fc898641fc863f _mt call_function.py --all 2,3 1,0,<module> 1,0,f e2:1/1=a=b m1:5=a(print,-1~ur1. m1.1=a,-2.1,-2~cb;r0r1. .');  # Call function.
def f(a, b):
    not (_mt and _mt(0, a, b)); print(a); _mt and _mt(1, a)
    b(a); _mt and _mt(2, a)
    pass
