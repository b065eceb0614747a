_mt = __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 cebf68f2ab2cf89fcd75d18e58d915d2 _mt for_first_statement.py --all 2,2 1,0,<module> 1,0,f e2:1/1=a=b l1:5=c,-1~er0 .');  # For first statement.
def f(a, b):
    for c in (_mt and _mt(0, a, b)) or (a): not (_mt and _mt(1, c)); pass
