_mt = __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 5cd37c761fa7c44f8feb2de78295dec7 _mt match_subject_parenthesised.py --all 2,3 1,0,<module> 1,0,f e2:1/1=a=b b2:9?bb97f180,-1 r1:5=return,-2~r0 .');  # Match subject parenthesised.
def f(a, b):
    match (_mt and _mt(0, a, b)) or ((a)):
        case 1: not (_mt and _mt(1)); pass
    not (_mt and _mt(2, a)); return a
