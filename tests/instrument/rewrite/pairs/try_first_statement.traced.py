_mt = __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 8037b38b4c5d97b6b91d322d24859385 _mt try_first_statement.py --all 2,4 1,0,<module> 1,0,f e2:1/1=a=b r2:9=return,-1~ca;r0. b1:5?e6aeb1ec(ValueError~r0 r1:9.1=0,-3.1~r0 .');  # Try first statement.
def f(a, b):
    try:
        not (_mt and _mt(0, a, b)); return (_mt_v := ( a())) is not _mt and _mt and _mt(1, _mt_v) or _mt_v
    except ValueError:
        not (_mt and _mt(2)); not (_mt and _mt(3, b)); return b
