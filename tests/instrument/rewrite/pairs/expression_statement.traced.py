_mt = __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 dd5062734d4231ea9c6d569226384107 _mt expression_statement.py --all 2,2 1,0,<module> 1,0,f e2:1/1=a=b r7:5=return,-1~r0 .');  # Expression statement.
def f(a, b):
    not (_mt and _mt(0, a, b)); a
    a + b
    a[0]
    'text'
    1
    ...
    not (_mt and _mt(1, a)); return a
