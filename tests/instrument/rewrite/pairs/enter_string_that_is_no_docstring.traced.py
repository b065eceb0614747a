_mt = __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 abdb073f56a1fd8b70bb2b50be597131 _mt enter_string_that_is_no_docstring.py --all 2,2 1,0,<module> 1,0,f e2:1/1=a=b r2:5=return,-1~r0 .');  # Enter string that is no docstring.
def f(a, b):
    not (_mt and _mt(0, a, b)); f"no {a}"
    not (_mt and _mt(1, a)); return a
