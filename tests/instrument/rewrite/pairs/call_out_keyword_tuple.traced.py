_mt = __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 0fa537f8acf79160f13ba2aa98feca34 _mt call_out_keyword_tuple.py --all 2,2 1,0,<module> 1,0,f e2:1/1=a=b=c m1:5=torch=a=b=c(0,-1,-1.1,-1.2~mmax;r0r1k=out;lr2r3.. .');  # Call out keyword tuple.
def f(a, b, c):
    not (_mt and _mt(0, a, b, c)); torch.max(a, 0, out=(b, c)); _mt and _mt(1, torch, a, b, c)
    pass
