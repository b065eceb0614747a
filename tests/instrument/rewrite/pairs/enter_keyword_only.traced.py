_mt = __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 a3bf675221a96ed9d318b4dbad93cb54 _mt enter_keyword_only.py --all 2,2 1,0,<module> 1,0,f e2:1/1=a r1:5=return,-1~r0 .');  # Enter keyword only.
def f(*, a):
    not (_mt and _mt(0, a)); not (_mt and _mt(1, a)); return a
