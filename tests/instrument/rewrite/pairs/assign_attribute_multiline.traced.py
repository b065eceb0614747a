_mt = __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 6950d859181d13fa744ab234a07418af _mt assign_attribute_multiline.py --all 2,3 1,0,<module> 1,0,f e2:1/1=a a1:5=a.x(g,-1~cg;kr1. a3=a.y,-2~lr0. .');  # Assign attribute multiline.
def f(a):
    not (_mt and _mt(0, a)); a.x = _mt_t = g(
        a,
    ); not (_mt and _mt(1, _mt_t)); del _mt_t
    a.y = _mt_t = [
        a,
    ]; not (_mt and _mt(2, _mt_t)); del _mt_t
