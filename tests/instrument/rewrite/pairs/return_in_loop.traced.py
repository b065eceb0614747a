_mt = __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 1d0d0951559597783bac00408bb78c4e _mt return_in_loop.py --all 2,5 1,0,<module> 1,0,f e2:1/1=a=b l1:5=c,-1~er0 b1:9?e60c2c52,-1~r0 r:15=return,-2,-3.1~pr0r1. r1:5.1=0~k .');  # Return in loop.
def f(a, b):
    for c in (_mt and _mt(0, a, b)) or (a):
        if (_mt and _mt(1, c)) or (c): not (_mt and _mt(2)); return (_mt_v := ( c + b)) is not _mt and _mt and _mt(3, _mt_v) or _mt_v
    not (_mt and _mt(4, None)); return None
