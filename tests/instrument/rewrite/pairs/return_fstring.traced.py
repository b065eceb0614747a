_mt = __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 2c3acc5fa3ffbbf8394075c7ce74ff0d _mt return_fstring.py --all 2,2 1,0,<module> 1,0,f e2:1/1=a=b r1:5=return~k .');  # Return fstring.
def f(a, b):
    not (_mt and _mt(0, a, b)); return (_mt_v := ( f"{a} {b!r:>{a}}")) is not _mt and _mt and _mt(1, _mt_v) or _mt_v
