_mt = __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 6ffe1ad31354f47cd5fd7954f88c944b _mt if_elif_only_pending.py --all 2,6 1,0,<module> 1,0,f e2:1/1=a=b b1:5?e40c292c,-1~r0 a1:9=c,-2.1~r0 b1:5!1?e70c2de5,-3.1~r0 a1:9.1=c,-4~r0 b1:5?e60c2c52,c~r0 .');  # If elif only pending.
def f(a, b):
    if (_mt and _mt(0, a, b)) or (a):
        not (_mt and _mt(1)); c = b; not (_mt and _mt(2, c))
    elif b:
        not (_mt and _mt(3)); c = a; not (_mt and _mt(4, c))
    if c:
        not (_mt and _mt(5)); pass
