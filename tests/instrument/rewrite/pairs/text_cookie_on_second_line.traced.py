# Text cookie on second line.
# coding: latin-1
def forward(a):
    # monitorch: on
    not ('_mt' in globals() or globals().__setitem__('_mt', __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 830c8daf4dedd7e1228e9c85483eb170 _mt text_cookie_on_second_line.py --forward 2,3 1,0,<module> 2,0,forward e3:1/1=a a2:5=b,-1~pkr0. r1=return,-1~r0 .'))); not (_mt and _mt(0, a)); b = 'é' + a; _mt and _mt(1, b)
    not (_mt and _mt(2, b)); return b
