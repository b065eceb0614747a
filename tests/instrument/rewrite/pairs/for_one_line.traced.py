_mt = __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 362ee6054030b334f21b90d153f5e8f3 _mt for_one_line.py --all 2,4 1,0,<module> 1,0,f e2:1/1=a=b l1:5=c,-1~er0 a:17=d,-1~r0 r1:5=return,-3.1~r0 .');  # For one line.
def f(a, b):
    for c in (_mt and _mt(0, a, b)) or (a): not (_mt and _mt(1, c)); d = c; not (_mt and _mt(2, d))
    not (_mt and _mt(3, b)); return b
