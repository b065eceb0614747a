_mt = __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 105e021cb96ebc40e0643ed3ecc71f5a _mt if_first_statement.py --all 2,4 1,0,<module> 1,0,f e2:1/1=a=b b1:5?e40c292c,-1~r0 r:11=return,-2.1~r0 r1:5.1=0,-3~r0 .');  # If first statement.
def f(a, b):
    if (_mt and _mt(0, a, b)) or (a): not (_mt and _mt(1)); not (_mt and _mt(2, b)); return b
    not (_mt and _mt(3, a)); return a
