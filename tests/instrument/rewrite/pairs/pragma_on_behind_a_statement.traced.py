def f(a):
    not ('_mt' in globals() or globals().__setitem__('_mt', __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 c52fc0690b5f7d4f6a5fd86cb7b5bd2f _mt pragma_on_behind_a_statement.py --forward 2,4 1,0,<module> 0,0,f e1:1/1=a a2:5=c,b~r0 a1=d,-1~r0 r1=return,-1~r0 .'))); not (_mt and _mt(0, a)); b = a
    c = b; _mt and _mt(1, c)  # monitorch: on
    d = c; _mt and _mt(2, d)
    not (_mt and _mt(3, d)); return d
