_mt = __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 f0fb7612cbc30e7df715d949c8ff0c97 _mt while_first_statement_below_docstring.py --all 2,4 1,0,<module> 1,0,f e2:1/1=a=b l2:5,a~r0 a1:9=a,a~pr0k. r1:5=return,a~r0 .');  # While first statement below docstring.
def f(a, b):
    """Counts down."""; _mt and _mt(0, a, b)
    while (a) and not (_mt and _mt(1)):
        a -= 1; not (_mt and _mt(2, a))
    not (_mt and _mt(3, a)); return a
