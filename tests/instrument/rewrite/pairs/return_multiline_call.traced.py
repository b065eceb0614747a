_mt = __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 861a9c5a0d142fac454d002a1e867987 _mt return_multiline_call.py --all 2,2 1,0,<module> 1,0,f e2:1/1=a=b r1:5=return,-1,-1.1~ca;r0r1. .');  # Return multiline call.
def f(a, b):
    not (_mt and _mt(0, a, b)); return (_mt_v := ( a(
        b,  # the second
    ))) is not _mt and _mt and _mt(1, _mt_v) or _mt_v
