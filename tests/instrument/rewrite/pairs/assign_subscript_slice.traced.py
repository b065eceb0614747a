_mt = __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 cf0a294d8dc0593de4ec66288934304a _mt assign_subscript_slice.py --all 2,2 1,0,<module> 1,0,f e2:1/1=a=b m1:5=a,-1.1,-1~pr0k.@0! .');  # Assign subscript slice.
def f(a, b):
    not (_mt and _mt(0, a, b)); a[1:, ..., None] = b + 1; _mt and _mt(1, a)
    pass
