_mt_t = __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented; import os
# monitorch: on
_mt = _mt_t(globals(), 'monitorch2 5a181b911a102f8b5a718d9dfea1d566 _mt pragma_on_module.py --forward 2,3 1,0,<module> 3,0,f a3:1=a(os.sep~r0 e1/1=b r1:5=return,-1~r0 .'); _mt_t = None; a = os.sep; _mt and _mt(0, a)
def f(b):
    not (_mt and _mt(1, b)); not (_mt and _mt(2, b)); return b
