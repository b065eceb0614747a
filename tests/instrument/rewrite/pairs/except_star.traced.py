_mt = __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 c2daf5eacbde5c264e6cdd687bb7425a _mt except_star.py --all 2,7 1,0,<module> 1,0,f e2:1/1=a=b a2:9=c,-1~ca;r0. b1:5?d520dcdf=group(ValueError~r0 a1:9.1=c,-1~r0 b1:5!1?152c8259(TypeError~r0 a1:9.2=c,-5.1~r0 r1:5=return,c~r0 .');  # Except star.
def f(a, b):
    try:
        not (_mt and _mt(0, a, b)); c = a(); not (_mt and _mt(1, c))
    except* ValueError as group:
        not (_mt and _mt(2, group)); c = group; not (_mt and _mt(3, c))
    except* TypeError:
        not (_mt and _mt(4)); c = b; not (_mt and _mt(5, c))
    not (_mt and _mt(6, c)); return c
