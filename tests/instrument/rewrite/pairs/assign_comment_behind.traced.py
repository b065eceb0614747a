_mt = __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 1b34ec8ddb497eb798b69fa8eabdcc4f _mt assign_comment_behind.py --all 2,2 1,0,<module> 1,0,f e2:1/1=a=b a1:5=c,-1~r0 .');  # Assign comment behind.
def f(a, b):
    not (_mt and _mt(0, a, b)); c = a; _mt and _mt(1, c)  # the sum
    pass
