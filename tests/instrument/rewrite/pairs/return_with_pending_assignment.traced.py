_mt = __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 3a4677bf9760dcdbd6d9f6dc21958d38 _mt return_with_pending_assignment.py --all 2,3 1,0,<module> 1,0,f e2:1/1=a=b a1:5=c,-1~r0 r1=return,-1~r0 .');  # Return with pending assignment.
def f(a, b):
    not (_mt and _mt(0, a, b)); c = a; _mt and _mt(1, c)
    not (_mt and _mt(2, c)); return c
