_mt = __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 0b2c412bfab50faf4646b4cda46d4bdd _mt if_one_line_several.py --all 2,5 1,0,<module> 1,0,f e2:1/1=a=b b1:5?e40c292c,-1~r0 a:11=c~k a:18=d~k r1:5=return,-4.1~r0 .');  # If one line several.
def f(a, b):
    if (_mt and _mt(0, a, b)) or (a): not (_mt and _mt(1)); c = 1; not (_mt and _mt(2, c)); d = 2; not (_mt and _mt(3, d));
    not (_mt and _mt(4, b)); return b
