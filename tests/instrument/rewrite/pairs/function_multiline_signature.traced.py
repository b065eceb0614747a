# Function multiline signature.
def f(
    a,  # the first
    b=(_mt := __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 d2b51c2bc739275bdb05898880cfc898 _mt function_multiline_signature.py --all 2,3 1,0,<module> 1,0,f e2:1/1=a=b a5:5=c,-1~r0 r1=return,-1~r0 .')) and () or ((1,
       2)),
) -> None:
    not (_mt and _mt(0, a, b)); c = a; _mt and _mt(1, c)
    not (_mt and _mt(2, c)); return c
