_mt = __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 03639e6f3d095d027b9c627b17c7be6f _mt assign_semicolons_only_assignments.py --all 2,3 1,0,<module> 1,0,f e2:1/1=a=b a1:5=c,-1~r0 a:12=d,-2.1~r0 .');  # Assign semicolons only assignments.
def f(a, b):
    not (_mt and _mt(0, a, b)); c = a; not (_mt and _mt(1, c)); d = b; _mt and _mt(2, d)
    pass
