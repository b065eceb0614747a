_mt = __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 bd2747faa998d08ba1df86cee6947bfa _mt with_attribute_target.py --all 2,3 1,0,<module> 1,0,f e2:1/1=a=b a1:5=+b.x,-1~r0 r2=return,-2.1~r0 .');  # With attribute target.
def f(a, b):
    with (_mt and _mt(0, a, b)) or (a) as b.x:
        not (_mt and _mt(1, b)); pass
    not (_mt and _mt(2, b)); return b
