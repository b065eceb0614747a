# Class in class.
class A(*((_mt := __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 c23879494c70f6d5851bd3a54aeeb857 _mt class_in_class.py --all 2,2 1,0,<module> 3,0,A.B.f e4:9/1=self=a r1:13=return,-1.1~r0 .')) and () or ())):
    class B:
        def f(self, a):
            not (_mt and _mt(0, self, a)); not (_mt and _mt(1, a)); return a
