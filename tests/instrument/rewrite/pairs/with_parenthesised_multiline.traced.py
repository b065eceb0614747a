_mt = __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 952eb064b0aa9496f13561561cce6052 _mt with_parenthesised_multiline.py --all 2,3 1,0,<module> 1,0,f e2:1/1=a=b a1:5=d,-1,-1.1 r5=return,-1~r0 .');  # With parenthesised multiline.
def f(a, b):
    with (
        (_mt and _mt(0, a, b)) or (a) as d,  # the first
        b,
    ):
        not (_mt and _mt(1, d)); pass
    not (_mt and _mt(2, d)); return d
