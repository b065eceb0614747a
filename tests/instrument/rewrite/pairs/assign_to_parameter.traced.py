_mt = __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 57ad8983512ab413cff868bf81ffe495 _mt assign_to_parameter.py --all 2,2 1,0,<module> 1,0,f e2:1/1=a=b a1:5=a,-1,-1.1~pr0r1. .');  # Assign to parameter.
def f(a, b):
    not (_mt and _mt(0, a, b)); a = a * b; _mt and _mt(1, a)
    pass
