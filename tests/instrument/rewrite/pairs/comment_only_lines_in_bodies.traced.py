_mt = __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 d48e1f78ab3bcaa38c30b490c5c5e8c1 _mt comment_only_lines_in_bodies.py --all 2,6 1,0,<module> 1,0,f e2:1/1=a=b b1:5?e40c292c,-1~r0 a2:9=c~k b3:5.1!1?e40c292c,-3~r0 a2:9.1=c~k r1:5=return,c~r0 .');  # Comment only lines in bodies.
def f(a, b):
    if (_mt and _mt(0, a, b)) or (a):
        # first
        not (_mt and _mt(1)); c = 1; not (_mt and _mt(2, c))  # one
        # last
    # out
    else:
        # other
        not (_mt and _mt(3)); c = 2; not (_mt and _mt(4, c))
    not (_mt and _mt(5, c)); return c
