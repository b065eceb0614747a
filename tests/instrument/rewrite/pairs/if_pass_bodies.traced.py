_mt = __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 1900c1f38ced59874edd4317f23d9d01 _mt if_pass_bodies.py --all 2,3 1,0,<module> 1,0,f e2:1/1=a=b b1:5?e40c292c,-1~r0 b2!1?e70c2de5,-2.1~r0 .');  # If pass bodies.
def f(a, b):
    if (_mt and _mt(0, a, b)) or (a):
        not (_mt and _mt(1)); pass
    elif b:
        not (_mt and _mt(2)); pass
