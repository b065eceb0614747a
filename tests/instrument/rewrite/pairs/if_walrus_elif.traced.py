_mt = __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 5ed8a959d2aaf978b4a22c8a8679d562 _mt if_walrus_elif.py --all 2,9 1,0,<module> 1,0,f e2:1/1=a=b a1:9=c,-1~r0 b:5?1633dbfe,-2~ur0k. r1:9=return,c~r0 a1:11=d,-4.1~r0 b:5!1?bcc5bdc3,-5.1,c~okr0r1. r1:9.1=0,d~r0 b1:5.1!2?bcc5bdc3,-7.1,c~okr0r1. r1:9.2=0,c~r0 .');  # If walrus elif.
def f(a, b):
    if (_mt and _mt(0, a, b)) or ((((c := a) is not _mt and _mt and _mt(1, c) or c)) > 1):
        not (_mt and _mt(2)); not (_mt and _mt(3, c)); return c
    elif (((d := b) is not _mt and _mt and _mt(4, d) or d)) and c:
        not (_mt and _mt(5)); not (_mt and _mt(6, d)); return d
    else:
        not (_mt and _mt(7)); not (_mt and _mt(8, c)); return c
