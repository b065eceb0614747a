_mt = __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 80c02edae392324f0b887a37677a2cd0 _mt call_out_keyword_assigned.py --all 2,2 1,0,<module> 1,0,f e2:1/1=a=b a1:5=c(torch,-1,-1.1~madd;r0r1r2=out;r2. .');  # Call out keyword assigned.
def f(a, b):
    not (_mt and _mt(0, a, b)); c = torch.add(a, b, out=b); _mt and _mt(1, c)
    pass
