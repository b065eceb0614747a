_mt = __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 f95f2c254957ffb405b3735f3f65f46e _mt try_else.py --all 2,7 1,0,<module> 1,0,f e2:1/1=a=b a2:9=c,-1~ca;r0. b3:5!1?ac1db00e a1:9=d,-2~r0 b-3:5?e6aeb1ec(ValueError~r0 r1:9=return,-5.1~r0 r3:5.1=1,-3~r0 .');  # Try else.
def f(a, b):
    try:
        not (_mt and _mt(0, a, b)); c = a(); not (_mt and _mt(1, c))
    except ValueError:
        not (_mt and _mt(4)); not (_mt and _mt(5, b)); return b
    else:
        not (_mt and _mt(2)); d = c; not (_mt and _mt(3, d))
    not (_mt and _mt(6, d)); return d
