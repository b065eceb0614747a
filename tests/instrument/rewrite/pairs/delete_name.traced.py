_mt = __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 bf353d0783ea57e1dbb8c7b8a8d5c673 _mt delete_name.py --all 2,2 1,0,<module> 1,0,f e2:1/1=a=b a1:5=c,-1~r0 .');  # Delete name.
def f(a, b):
    not (_mt and _mt(0, a, b)); c = a; _mt and _mt(1, c)
    del c
    pass
