_mt = __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 8c18964aee85445a59f3c42c7020df1d _mt if_no_space_before_parenthesis.py --all 2,4 1,0,<module> 1,0,f e2:1/1=a=b b1:5?fdcfe5dc,-1,-1.1~okr0r1. r1:9=return~k r1:5.1=0~k .');  # If no space before parenthesis.
def f(a, b):
    if(_mt and _mt(0, a, b)) or ((a)and(b)):
        not (_mt and _mt(1)); not (_mt and _mt(2, 1)); return 1
    not (_mt and _mt(3, 2)); return 2
