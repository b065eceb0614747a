_mt = __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 dea445eff22da795e06b9ec313a84c2d _mt while_true.py --all 2,4 1,0,<module> 1,0,f e2:1/1*=a=b l1:5~k b1:9?5790e1ff,-2~ca;r0. r1:5=return,-3.1~r0 .');  # While true.
def f(a, b):
    while (_mt and _mt(0, a, b)) or (True):
        if (_mt and _mt(1)) or (a()): not (_mt and _mt(2)); break
    not (_mt and _mt(3, b)); return b
