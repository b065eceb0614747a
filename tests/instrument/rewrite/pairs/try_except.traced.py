_mt = __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 107b7024e8ecb2f8ccd868ae09730f8a _mt try_except.py --all 2,5 1,0,<module> 1,0,f e2:1/1=a=b a2:9=c,-1~ca;r0. b1:5?e6aeb1ec(ValueError~r0 a1:9.1=c,-3.1~r0 r1:5=return,c~r0 .');  # Try except.
def f(a, b):
    try:
        not (_mt and _mt(0, a, b)); c = a(); not (_mt and _mt(1, c))
    except ValueError:
        not (_mt and _mt(2)); c = b; not (_mt and _mt(3, c))
    not (_mt and _mt(4, c)); return c
