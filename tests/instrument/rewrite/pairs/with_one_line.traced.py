_mt = __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 0e7688882c71c60d1f7bf9a0208c417d _mt with_one_line.py --all 2,4 1,0,<module> 1,0,f e2:1/1=a=b a1:5=c,-1~r0 a:18=d,-1~r0 r1:5=return,-3.1~r0 .');  # With one line.
def f(a, b):
    with (_mt and _mt(0, a, b)) or (a) as c: not (_mt and _mt(1, c)); d = c; not (_mt and _mt(2, d))
    not (_mt and _mt(3, b)); return b
