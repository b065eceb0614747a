_mt = __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 58d7845590324bbd056ecfb8d0e60e35 _mt if_conditional_condition.py --all 2,4 1,0,<module> 1,0,f e2:1/1=a=b b1:5?5f194129,-1,-1.1~or1r0r0. r1:9=return~k r1:5.1=0~k .');  # If conditional condition.
def f(a, b):
    if (_mt and _mt(0, a, b)) or (a if b else a):
        not (_mt and _mt(1)); not (_mt and _mt(2, 1)); return 1
    not (_mt and _mt(3, 2)); return 2
