_mt = __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 bbfbd2b12ee8d8e7a1603ebecde39a37 _mt enter_one_line.py --all 2,2 1,0,<module> 1,0,f e2:1/1=a r:11=return,-1~r0 .');  # Enter one line.
def f(a): not (_mt and _mt(0, a)); not (_mt and _mt(1, a)); return a
