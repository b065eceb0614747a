_mt = __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 4dea33980ff45f4eedcd3672a52bbfad _mt match_subject_tuple.py --all 2,3 1,0,<module> 1,0,f e2:1/1=a=b b2:9?e7970f65=d,-1,-1.1 r1:5=return,-2~r0 .');  # Match subject tuple.
def f(a, b):
    match (_mt and _mt(0, a, b)) or (a, b):
        case [1, d]: not (_mt and _mt(1, d)); pass
    not (_mt and _mt(2, a)); return a
