_mt = __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 cfc6345715c13a6562a4feea3c48d3e1 _mt walrus_short_circuit.py --all 2,3 1,0,<module> 1,0,f e2:1/1=a=b a1:16=n,-1.1~r0 a:5=c,-2,-2.1~okokr0r1.k. .');  # Walrus short circuit.
def f(a, b):
    not (_mt and _mt(0, a, b)); c = a and (((n := b) is not _mt and _mt and _mt(1, n) or n)) or 0; _mt and _mt(2, c)
    pass
