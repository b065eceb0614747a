_mt = __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 dbc5b0a5c0d4fa66b66a7f9c3b4983ed _mt call_out_keyword.py --all 2,2 1,0,<module> 1,0,f e2:1/1=a=b m1:5=torch=a=b(0,-1,-1.1~madd;r0r1r2=out;r2. .');  # Call out keyword.
def f(a, b):
    not (_mt and _mt(0, a, b)); torch.add(a, b, out=b); _mt and _mt(1, torch, a, b)
    pass
