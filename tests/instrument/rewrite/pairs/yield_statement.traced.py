_mt = __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 c4b629e46fad3d57b6ad11d46c4727df _mt yield_statement.py --all 2,1 1,0,<module> 1,0,f e2:1/1=a=b .');  # Yield statement.
def f(a, b):
    not (_mt and _mt(0, a, b)); yield
    yield a
    yield from b
    yield a, b
