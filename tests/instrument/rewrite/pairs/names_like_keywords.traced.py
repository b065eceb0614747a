_mt = __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 0eaac983064edb123d87aa8c854f2530 _mt names_like_keywords.py --all 2,5 1,0,<module> 1,0,f e2:1/1=a=b a1:5=type,-1~r0 a1=_=match=case,-2.1~r0 m1=0=1=2(print,-2,-1.1,-1.2~ur1r2r3. r1=return,-3~r0 .');  # Names like keywords.
def f(a, b):
    not (_mt and _mt(0, a, b)); type = a; _mt and _mt(1, type)
    _ = match = case = b; _mt and _mt(2, _, match, case)
    print(type, match, case); _mt and _mt(3, type, match, case)
    not (_mt and _mt(4, type)); return type
