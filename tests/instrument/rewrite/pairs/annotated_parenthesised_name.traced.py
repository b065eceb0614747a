_mt = __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 8565462e4b3412966f58d025e8463ed1 _mt annotated_parenthesised_name.py --all 2,2 1,0,<module> 1,0,f e2:1/1=a=b a1:5=c,-1~r0@0.0 .');  # Annotated parenthesised name.
def f(a, b):
    not (_mt and _mt(0, a, b)); (c): int = a; _mt and _mt(1, c)
    pass
