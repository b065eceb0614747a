_mt = __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 96ca52220fb9492905f48be373bb16c3 _mt delete_subscript.py --all 2,1 1,0,<module> 1,0,f e2:1/1=a=b .');  # Delete subscript.
def f(a, b):
    not (_mt and _mt(0, a, b)); del a[0]
    pass
