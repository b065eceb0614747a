_mt = __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 794ce7e2a7c0d7bb68d76966c9089754 _mt walrus_in_lambda.py --all 2,2 1,0,<module> 1,0,f e2:1/1=a=b a1:5=c~k .');  # Walrus in lambda.
def f(a, b):
    not (_mt and _mt(0, a, b)); c = lambda: (n := a); _mt and _mt(1, c)
    pass
