_mt = __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 7ccff77e84fbdb17a3c54aa643849e51 _mt match_after_assignment.py --all 2,5 1,0,<module> 1,0,f e2:1/1=a=b a1:5=c,-1~r0 b2:9?bb97f180,-1 a:17=d,-3.1~r0 r1:5=return,-3~r0 .');  # Match after assignment.
def f(a, b):
    not (_mt and _mt(0, a, b)); c = a; _mt and _mt(1, c)
    match c:
        case 1: not (_mt and _mt(2)); d = b; not (_mt and _mt(3, d))
    not (_mt and _mt(4, c)); return c
