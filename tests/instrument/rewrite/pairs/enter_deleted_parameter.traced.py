_mt = __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 5948ef8fcf5625c4919e3966ecac3278 _mt enter_deleted_parameter.py --all 2,1 1,0,<module> 1,0,f e2:1/1=a .');  # Enter deleted parameter.
def f(a):
    not (_mt and _mt(0, a)); del a
