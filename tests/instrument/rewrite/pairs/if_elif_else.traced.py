_mt = __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 cc226b0af33aa3fae4db41b291411a50 _mt if_elif_else.py --all 2,8 1,0,<module> 1,0,f e2:1/1=a=b b1:5?e40c292c,-1~r0 a1:9=c~k b1:5!1?e70c2de5,-3.1~r0 a1:9.1=c~k b1:5.1!2?e70c2de5,-5.1~r0 a1:9.2=c~k r1:5=return,c~r0 .');  # If elif else.
def f(a, b):
    if (_mt and _mt(0, a, b)) or (a):
        not (_mt and _mt(1)); c = 1; not (_mt and _mt(2, c))
    elif b:
        not (_mt and _mt(3)); c = 2; not (_mt and _mt(4, c))
    else:
        not (_mt and _mt(5)); c = 3; not (_mt and _mt(6, c))
    not (_mt and _mt(7, c)); return c
