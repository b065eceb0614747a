def double(x):
    not (_mt and _mt(0, x)); y = 2 * x; _mt and _mt(1, y)
    not (_mt and _mt(2, y)); return y
_mt = __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 06b25772185c36681800917f73188565 _mt bootstrap_behind_functions.py --all 2,5 1,0,<module> 0,0,double e1:1/1=x a1:5=y,-1~pkr0. r1=return,-1~r0 a2:1/0=total(double~cdouble;r0k. m1=1(print(-1~ur1. .'); print(double(1))
total = double(2); _mt and _mt(3, total)
print(total); not (_mt and _mt(4, total))
