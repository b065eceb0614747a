_mt = __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 efad837b12d905313ca498a14b3b601b _mt call_chain_multiline.py --all 2,2 1,0,<module> 1,0,f e2:1/1=a=b m1:5=a=b,-1,-1.1~mmul_;madd_;r0r1.r1. .');  # Call chain multiline.
def f(a, b):
    not (_mt and _mt(0, a, b)); a.add_(
        b
    ).mul_(
        b
    )
    not (_mt and _mt(1, a, b)); pass
