_mt = __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 e7a78967de6d053986dddee7a7128f01 _mt if_with_only_a_function.py --all 3,5 1,0,<module> 1,0,f 2,1,.<locals>.g e2:1/1=a b1:5?e40c292c,-1~r0 e1:9/2 r:18=return~k b1:5/1.1!1?e40c292c,-4~r0 .');  # If with only a function.
def f(a):
    if (_mt and _mt(0, a)) or ((a) and not (_mt and _mt(1))):
        def g(): not (_mt and _mt(2)); not (_mt and _mt(3, 1)); return 1
    else:
        @(_mt and _mt(4)) or (a)
        class A: pass
