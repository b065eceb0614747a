_mt = __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 9130aa680a8bf60053f57224906e6f1a _mt lines_start_of_a_multiline_statement.py --lines=3 2,2 1,0,<module> 1,0,f e2:1/1=a a1:5=b(g,-1~cg;kr1k. .');  # Lines start of a multiline statement.
def f(a):
    not (_mt and _mt(0, a)); b = g(
        a,
        1,
    )
    not (_mt and _mt(1, b)); c = b
    return c
