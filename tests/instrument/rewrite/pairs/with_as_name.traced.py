_mt = __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 901346e5a5246ec222065996f6640663 _mt with_as_name.py --all 2,3 1,0,<module> 1,0,f e2:1/1=a=b a1:5=c,-1~r0 r2=return,-2.1~r0 .');  # With as name.
def f(a, b):
    with (_mt and _mt(0, a, b)) or (a) as c:
        not (_mt and _mt(1, c)); pass
    not (_mt and _mt(2, b)); return b
