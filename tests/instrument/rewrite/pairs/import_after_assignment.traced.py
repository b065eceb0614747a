_mt = __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 0b87537cc8c191bdc43dd214e8c4f649 _mt import_after_assignment.py --all 2,3 1,0,<module> 1,0,f e2:1/1=a=b a1:5=c,-1~r0 r2=return,os~r0 .');  # Import after assignment.
def f(a, b):
    not (_mt and _mt(0, a, b)); c = a; _mt and _mt(1, c)
    import os
    not (_mt and _mt(2, os)); return os
