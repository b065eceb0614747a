_mt = __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 a803fc722b78a941dcdf863b46c82871 _mt while_first_statement_below_blank.py --all 2,4 1,0,<module> 1,0,f e2:1/1*=a l2:5,a~r0 a1:9=a,a~pr0k. r1:5=return,a~r0 .');  # While first statement below blank.
def f(a):

    while (_mt and _mt(0, a)) or ((a) and not (_mt and _mt(1))):
        a -= 1; not (_mt and _mt(2, a))
    not (_mt and _mt(3, a)); return a
