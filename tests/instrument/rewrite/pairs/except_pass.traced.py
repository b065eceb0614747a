_mt = __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 110cc2cab3dcfdc403fc2300c0ac1562 _mt except_pass.py --all 2,4 1,0,<module> 1,0,f e2:1/1=a=b a2:9=c,-1~ca;r0. b1:5?21f0765a=error(ValueError~r0 r1=return,-3.1~r0 .');  # Except pass.
def f(a, b):
    try:
        not (_mt and _mt(0, a, b)); c = a(); not (_mt and _mt(1, c))
    except ValueError as error: not (_mt and _mt(2, error)); pass
    not (_mt and _mt(3, b)); return b
