_mt = __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 aa015546e134a52574235c5b079a4473 _mt with_parenthesised_expression.py --all 2,3 1,0,<module> 1,0,f e2:1/1=a=b a1:5=d,-1~r0 r2=return,-1~r0 .');  # With parenthesised expression.
def f(a, b):
    with (_mt and _mt(0, a, b)) or ((a)) as d:
        not (_mt and _mt(1, d)); pass
    not (_mt and _mt(2, d)); return d
