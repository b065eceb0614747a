# Prefix taken.
_mt0x = __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 83905990f64bde26376711b312b9e556 _mt0x prefix_taken.py --all 2,3 1,0,<module> 2,0,f a2:1=_mt~k e1/1=_mt_v r1:5=return(0,-1~pr0r1. .'); _mt = 5; _mt0x and _mt0x(0, _mt)
def f(_mt_v):
    not (_mt0x and _mt0x(1, _mt_v)); return (_mt0x_v := ( _mt + _mt_v)) is not _mt0x and _mt0x and _mt0x(2, _mt0x_v) or _mt0x_v
