_mt = __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 faf7829ded09f26f88cba285c3024978 _mt function_nested_rebinds_the_name.py --all 3,6 1,0,<module> 1,0,f 3,1,.<locals>.g e2:1/1=a a1:5=g,-1~r0 a1=b,-1~r0 e1/2 r:14=return;b~r0 r1:5/1=0,g~r0 .');  # Function nested rebinds the name.
def f(a):
    not (_mt and _mt(0, a)); g = a; _mt and _mt(1, g)
    b = g; _mt and _mt(2, b)
    def g(): not (_mt and _mt(3)); not (_mt and _mt(4, b)); return b
    not (_mt and _mt(5, g)); return g
