_mt = __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 2633bf9887decf90453eeedbe6e1b855 _mt reads_after_branch.py --all 2,7 1,0,<module> 1,0,f e2:1/1=a=b b1:5?e40c292c,-1~r0 a1:9=c~k b1:5.1!1?e40c292c,-3~r0 a1:9.1=c~k a1:5=d,c,-5.1~pr0r1. r1=return,-1~r0 .');  # Reads after branch.
def f(a, b):
    if (_mt and _mt(0, a, b)) or (a):
        not (_mt and _mt(1)); c = 1; not (_mt and _mt(2, c))
    else:
        not (_mt and _mt(3)); c = 2; not (_mt and _mt(4, c))
    d = c + b; _mt and _mt(5, d)
    not (_mt and _mt(6, d)); return d
