_mt = __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 7c5ca95112e2dec26163b90d1c2e2dd3 _mt break_after_assignment.py --all 2,4 1,0,<module> 1,0,f e2:1/1*=a=b l1:5,-1~r0 a1:9=c,-2.1~r0 r2:5=return,c~r0 .');  # Break after assignment.
def f(a, b):
    while (_mt and _mt(0, a, b)) or ((a) and not (_mt and _mt(1))):
        c = b; _mt and _mt(2, c)
        break
    not (_mt and _mt(3, c)); return c
