_mt = __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 be502e7140d46d2b496e6eb4ad5c0200 _mt if_backslash_condition.py --all 2,4 1,0,<module> 1,0,f e2:1/1=a=b b1:5?21cfbe1d,-1,-1.1~okr0r1. r2:9=return~k r1:5.1=0~k .');  # If backslash condition.
def f(a, b):
    if (_mt and _mt(0, a, b)) or (a and \
       b):
        not (_mt and _mt(1)); not (_mt and _mt(2, 1)); return 1
    not (_mt and _mt(3, 2)); return 2
