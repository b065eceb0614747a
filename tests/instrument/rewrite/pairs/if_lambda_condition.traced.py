_mt = __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 97f3843d1b0ca47ec6f7487ad30e4760 _mt if_lambda_condition.py --all 2,4 1,0,<module> 1,0,f e2:1/1=a=b b1:5?161838c3~k r1:9=return~k r1:5.1=0~k .');  # If lambda condition.
def f(a, b):
    if (_mt and _mt(0, a, b)) or (lambda: a):
        not (_mt and _mt(1)); not (_mt and _mt(2, 1)); return 1
    not (_mt and _mt(3, 2)); return 2
