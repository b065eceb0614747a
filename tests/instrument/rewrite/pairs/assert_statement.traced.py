_mt = __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 4f233bc5e4783bcdc0dd230e044377aa _mt assert_statement.py --all 2,3 1,0,<module> 1,0,f e2:1/1=a=b a1:5=c,-1~r0 r2=return,-1~r0 .');  # Assert statement.
def f(a, b):
    not (_mt and _mt(0, a, b)); c = a; _mt and _mt(1, c)
    assert c, b
    not (_mt and _mt(2, c)); return c
