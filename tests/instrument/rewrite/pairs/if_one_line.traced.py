_mt = __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 9ef5761b5ad8e80c321eeac006ca5c1d _mt if_one_line.py --all 2,6 1,0,<module> 1,0,f e2:1/1=a=b b1:5?e40c292c,-1~r0 a:11=c~k b1:5.1!1?e40c292c,-3~r0 a:11.1=c~k r1:5=return,c~r0 .');  # If one line.
def f(a, b):
    if (_mt and _mt(0, a, b)) or (a): not (_mt and _mt(1)); c = 1; not (_mt and _mt(2, c))
    else: not (_mt and _mt(3)); c = 2; not (_mt and _mt(4, c))
    not (_mt and _mt(5, c)); return c
