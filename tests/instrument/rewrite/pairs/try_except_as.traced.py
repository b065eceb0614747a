_mt = __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 b69d9fcf8bd754ef9b53c1b7c25c94be _mt try_except_as.py --all 2,5 1,0,<module> 1,0,f e2:1/1=a=b a2:9=c,-1~ca;r0. b1:5?21f0765a=error(ValueError~r0 a1:9.1=c,-1~r0 r1:5=return,c~r0 .');  # Try except as.
def f(a, b):
    try:
        not (_mt and _mt(0, a, b)); c = a(); not (_mt and _mt(1, c))
    except ValueError as error:
        not (_mt and _mt(2, error)); c = error; not (_mt and _mt(3, c))
    not (_mt and _mt(4, c)); return c
