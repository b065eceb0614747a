_mt = __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 0e4de9b3b7c2355cf6b3d35564f055b7 _mt delete_attribute.py --all 2,1 1,0,<module> 1,0,f e2:1/1=a=b .');  # Delete attribute.
def f(a, b):
    not (_mt and _mt(0, a, b)); del a.x, a.y
    pass
