def forward(a):
    # monitorch: on
    not ('_mt' in globals() or globals().__setitem__('_mt', __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 c521cd65cddcbf8350ba426dee8493d9 _mt bootstrap_functions_alone.py --forward 3,4 1,0,<module> 0,0,forward 3,0,g e1:1/1=a r2:5=return,-1~r0 e1:1/2=b r2:5=0,-1~r0 .'))); not (_mt and _mt(0, a)); not (_mt and _mt(1, a)); return a
def g(b):
    # monitorch: on
    not ('_mt' in globals() or globals().__setitem__('_mt', __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 c521cd65cddcbf8350ba426dee8493d9 _mt bootstrap_functions_alone.py --forward 3,4 1,0,<module> 0,0,forward 3,0,g e1:1/1=a r2:5=return,-1~r0 e1:1/2=b r2:5=0,-1~r0 .'))); not (_mt and _mt(2, b)); not (_mt and _mt(3, b)); return b
