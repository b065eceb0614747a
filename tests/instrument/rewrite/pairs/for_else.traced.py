_mt = __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 fc466157c10ab12777aeebe457c6535a _mt for_else.py --all 2,6 1,0,<module> 1,0,f e2:1/1=a=b l1:5=c,-1~er0 b1:9?e60c2c52,-1~r0 b1:5!1?e40c292c a1:9=c,-4.1~r0 r1:5=return,c~r0 .');  # For else.
def f(a, b):
    for c in (_mt and _mt(0, a, b)) or (a):
        if (_mt and _mt(1, c)) or (c): not (_mt and _mt(2)); break
    else:
        not (_mt and _mt(3)); c = b; not (_mt and _mt(4, c))
    not (_mt and _mt(5, c)); return c
