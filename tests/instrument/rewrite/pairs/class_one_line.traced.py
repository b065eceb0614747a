# Class one line.
class A(*((_mt := __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 99262311f01699b140a2c4b8b91323fd _mt class_one_line.py --all 2,2 1,0,<module> 2,0,f e3:1/1=a r:11=return(A~r0 .')) and () or ())): x = 1; y = x
def f(a): not (_mt and _mt(0, a)); not (_mt and _mt(1, A)); return A
