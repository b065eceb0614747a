_mt = __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 8f1a4653540d0226212ca41d10aeeddc _mt call_in_place_of_call.py --all 2,1 1,0,<module> 1,0,f e2:1/1=a=b .');  # Call in place of call.
def f(a, b):
    not (_mt and _mt(0, a, b)); a().zero_()
    pass
