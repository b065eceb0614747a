_mt = __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 96ea57f19cd3b786d2a5dcdec2ef6321 _mt name_of_an_exception.py --all 2,6 1,0,<module> 1,0,f e2:1/1=a=b b5:5!1?ac1db00e a1:9=e,-2.1~r0 b-3:5?2fe4670b=e(ValueError~r0 a1:9=c,-1~r0 r3:5=return,e~r0 .');  # Name of an exception.
def f(a, b):
    try:
        not (_mt and _mt(0, a, b)); a()
    except ValueError as e:
        not (_mt and _mt(3, e)); c = e; not (_mt and _mt(4, c))
    else:
        not (_mt and _mt(1)); e = b; not (_mt and _mt(2, e))
    not (_mt and _mt(5, e)); return e
