_mt = __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 671f96015c973a0f2ad3f866ff106663 _mt with_call.py --all 2,3 1,0,<module> 1,0,f e2:1/1=a=b a2:9=d,-1~r0 r1:5=return,-1~r0 .');  # With call.
def f(a, b):
    with (_mt and _mt(0, a, b)) or (torch.no_grad()), b(a):
        d = a; not (_mt and _mt(1, d))
    not (_mt and _mt(2, d)); return d
