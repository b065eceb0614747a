_mt = __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 6e95c2cdb8d52bee5410d8a995e213a6 _mt dir_named.py --all 2,2 1,0,<module> 1,0,f e2:1/1=a=b r1:5=-return(dir,-1~pcdir;k.lr1.. .');  # Dir named.
def f(a, b):
    not (_mt and _mt(0, a, b)); not (_mt and _mt(1)); return dir() + [a]
