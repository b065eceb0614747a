_mt = __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 c8bf567d5188ddc56049c1dd40cceabf _mt pragma_off_on.py --all 2,3 1,0,<module> 1,0,f e2:1/1=a a4:5=c,b~r0 r1=return,-1~r0 .');  # Pragma off on.
def f(a):
    # monitorch: off
    not (_mt and _mt(0, a)); b = a
    # monitorch: on
    c = b; _mt and _mt(1, c)
    not (_mt and _mt(2, c)); return c
