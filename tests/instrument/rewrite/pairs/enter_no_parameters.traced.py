_mt = __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 a3e4df2a28098aabe6ec6386a19915ba _mt enter_no_parameters.py --all 2,2 1,0,<module> 1,0,f e2:1/1 r2:5=return~k .');  # Enter no parameters.
def f():
    not (_mt and _mt(0)); g()
    not (_mt and _mt(1, 1)); return 1
