_mt = __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 fd0d2adfe472414b9247ccf359b4f36e _mt nested_blocks_deep.py --all 2,8 1,0,<module> 1,0,f e2:1/1=a=b l1:5=c,-1~er0 b1:9*?e60c2c52,-1~r0 l1:13,b~r0 a1:17=d,-3~r0 a2:25=e,-1~r0 a2=b~k r1:5=return,b~r0 .');  # Nested blocks deep.
def f(a, b):
    for c in (_mt and _mt(0, a, b)) or (a):
        if (_mt and _mt(1, c)) or (c):
            while (_mt and _mt(2)) or ((b) and not (_mt and _mt(3))):
                with c as d:
                    try:
                        not (_mt and _mt(4, d)); e = d; not (_mt and _mt(5, e))
                    finally:
                        b = 0; not (_mt and _mt(6, b))
    not (_mt and _mt(7, b)); return b
