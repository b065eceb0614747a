_mt = __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 96dd63e36e00b750053e6dd8896c7a83 _mt call_multiline.py --all 2,3 1,0,<module> 1,0,f e2:1/1=a m1:5=a(g,-1~cg;kr1. m3=a.x,0~madd_;r0k. .');  # Call multiline.
def f(a):
    not (_mt and _mt(0, a)); g(
        a,
    )
    not (_mt and _mt(1, a)); (_mt_t := a.x).add_(
        1,
    ); not (_mt and _mt(2, _mt_t)); del _mt_t
