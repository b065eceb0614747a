def f(a):
    not ('_mt' in globals() or globals().__setitem__('_mt', __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 54e777f307275d423e6a96f1f276f911 _mt pragma_on_block.py --forward 2,3 1,0,<module> 0,0,f e1:1/1=a a4:9=c,b~r0 a1=d,-1~r0 .'))); not (_mt and _mt(0, a)); b = a
    if b:
        # monitorch: on
        c = b; _mt and _mt(1, c)
        d = c; not (_mt and _mt(2, d))
    e = b
    return e
