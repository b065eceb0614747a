_mt = __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 16555f321b5755a9fc4b48ec170d5a08 _mt return_without_space_brace.py --all 2,2 1,0,<module> 1,0,f e2:1/1=a=b r1:5=return,-1,-1.1~d?r1. .');  # Return without space brace.
def f(a, b):
    not (_mt and _mt(0, a, b)); return (_mt_v := ({a: b})) is not _mt and _mt and _mt(1, _mt_v) or _mt_v
