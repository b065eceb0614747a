_mt = __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 d2b642088eb120afd7f08ed12590f9a4 _mt with_first_statement.py --all 2,1 1,0,<module> 1,0,f e2:1/1=a=b .');  # With first statement.
def f(a, b):
    with (_mt and _mt(0, a, b)) or (a): pass
