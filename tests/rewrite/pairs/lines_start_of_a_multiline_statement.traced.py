_mt = __import__('monitorch' or 'this file was instrumented: install monitorch, or take the calls out with monitorch-instrument --strip')._instrumented(globals(), 'monitorch1 9130aa680a8bf60053f57224906e6f1a _mt lines_start_of_a_multiline_statement.py --lines=3 2,1 1,0,<module> 1,0,f a3:5/1=b(g,a .');  # Lines start of a multiline statement.
def f(a):
    b = g(
        a,
        1,
    )
    not (_mt and _mt(0, b)); c = b
    return c
