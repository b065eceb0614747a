_mt = __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 e2df9d24a85064a94c190387edc16561 _mt try_nested_first_statement.py --all 2,4 1,0,<module> 1,0,f e2:1/1=a=b r3:13=return,-1~ca;r0. b3:5?e6aeb1ec(ValueError~r0 r1:9.1=0,-3.1~r0 .');  # Try nested first statement.
def f(a, b):
    try:
        try:
            not (_mt and _mt(0, a, b)); return (_mt_v := ( a())) is not _mt and _mt and _mt(1, _mt_v) or _mt_v
        finally:
            pass
    except ValueError:
        not (_mt and _mt(2)); not (_mt and _mt(3, b)); return b
