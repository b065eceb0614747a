_mt = __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 96dd1c0a89da1255525376c1732db5f4 _mt if_not_condition.py --all 2,4 1,0,<module> 1,0,f e2:1/1=a=b b1:5?8d9a05f1,-1~r0 r1:9=return~k r1:5.1=0~k .');  # If not condition.
def f(a, b):
    if (_mt and _mt(0, a, b)) or (not a):
        not (_mt and _mt(1)); not (_mt and _mt(2, 1)); return 1
    not (_mt and _mt(3, 2)); return 2
