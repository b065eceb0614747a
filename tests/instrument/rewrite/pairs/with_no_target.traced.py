_mt = __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 efa0ce3e341b733b2b6437300f3b94d6 _mt with_no_target.py --all 2,3 1,0,<module> 1,0,f e2:1/1=a=b a2:9=c,-1.1~r0 r1:5=return,-2.1~r0 .');  # With no target.
def f(a, b):
    with (_mt and _mt(0, a, b)) or (a):
        c = b; not (_mt and _mt(1, c))
    not (_mt and _mt(2, b)); return b
