_mt = __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 ca8b27348c29863ab1c163cec47e0d69 _mt assign_semicolon_at_end.py --all 2,2 1,0,<module> 1,0,f e2:1/1=a=b a1:5=c,-1~r0 .');  # Assign semicolon at end.
def f(a, b):
    not (_mt and _mt(0, a, b)); c = a; not (_mt and _mt(1, c));
    pass
