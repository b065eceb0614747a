_mt = __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 1a0ae10591efadc66148d222647c7e0d _mt assign_lambda.py --all 2,2 1,0,<module> 1,0,f e2:1/1=a=b a1:5=c~k .');  # Assign lambda.
def f(a, b):
    not (_mt and _mt(0, a, b)); c = lambda d: d + a; _mt and _mt(1, c)
    pass
