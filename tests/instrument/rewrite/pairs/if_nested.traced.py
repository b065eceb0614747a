_mt = __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 50fcc2c975da1e937b72b7bdfbd50138 _mt if_nested.py --all 2,5 1,0,<module> 1,0,f e2:1/1=a=b b1:5?e40c292c,-1~r0 b1:9?e70c2de5,-2.1~r0 r1:13=return~k r1:5.1=0~k .');  # If nested.
def f(a, b):
    if (_mt and _mt(0, a, b)) or (a):
        if (_mt and _mt(1)) or (b):
            not (_mt and _mt(2)); not (_mt and _mt(3, 1)); return 1
    not (_mt and _mt(4, 2)); return 2
