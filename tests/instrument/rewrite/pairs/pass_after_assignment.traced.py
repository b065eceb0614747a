_mt = __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 ae02b04eea4b57fa969cbd66490fcdfc _mt pass_after_assignment.py --all 2,3 1,0,<module> 1,0,f e2:1/1=a=b a1:5=c,-1~r0 r2=return,-1~r0 .');  # Pass after assignment.
def f(a, b):
    not (_mt and _mt(0, a, b)); c = a; _mt and _mt(1, c)
    pass
    not (_mt and _mt(2, c)); return c
