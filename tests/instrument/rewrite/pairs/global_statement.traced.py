_mt = __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 bb71c24f1a16ab7e35d38d6e2c6321be _mt global_statement.py --all 2,4 1,0,<module> 1,0,f e2:1/1=a=b a1:5=c,-1~r0 a2=g,-1~r0 r1=return(g~r0 .');  # Global statement.
def f(a, b):
    not (_mt and _mt(0, a, b)); c = a; _mt and _mt(1, c)
    global g
    g = c; _mt and _mt(2, g)
    not (_mt and _mt(3, g)); return g
