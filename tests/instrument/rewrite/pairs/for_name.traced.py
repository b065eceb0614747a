_mt = __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 0e27135ae6341b20a0e0b9712fb26d57 _mt for_name.py --all 2,3 1,0,<module> 1,0,f e2:1/1=a=b l1:5=c,-1~er0 r2=return,-2.1~r0 .');  # For name.
def f(a, b):
    for c in (_mt and _mt(0, a, b)) or (a):
        not (_mt and _mt(1, c)); pass
    not (_mt and _mt(2, b)); return b
