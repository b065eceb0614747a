_mt = __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 1622638b7b9d1c2ec7600cc0624fc045 _mt for_nested.py --all 2,5 1,0,<module> 1,0,f e2:1/1=a=b l1:5=c,-1~er0 l1:9=d,-1~er0 a1:13=e,-1~r0 r1:5=return,-4.1~r0 .');  # For nested.
def f(a, b):
    for c in (_mt and _mt(0, a, b)) or (a):
        for d in (_mt and _mt(1, c)) or (c):
            not (_mt and _mt(2, d)); e = d; not (_mt and _mt(3, e))
    not (_mt and _mt(4, b)); return b
