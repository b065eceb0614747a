_mt = __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 5cd956ddf9518f341db36deb935090d6 _mt walrus_in_while_condition.py --all 2,3 1,0,<module> 1,0,f e2:1/1*=a=b a1:12=n,-1~ca;r0. l:5,-2~ca;r0. .');  # Walrus in while condition.
def f(a, b):
    while (_mt and _mt(0, a, b)) or (((((n := a()) is not _mt and _mt and _mt(1, n) or n))) and not (_mt and _mt(2))):
        pass
