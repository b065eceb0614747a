_mt = __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 551560ee01d9eaeba5cc21c4de692f26 _mt return_conditional.py --all 2,2 1,0,<module> 1,0,f e2:1/1=a=b r1:5=return,-1,-1.1~or1r0k. .');  # Return conditional.
def f(a, b):
    not (_mt and _mt(0, a, b)); return (_mt_v := ( a if b else None)) is not _mt and _mt and _mt(1, _mt_v) or _mt_v
