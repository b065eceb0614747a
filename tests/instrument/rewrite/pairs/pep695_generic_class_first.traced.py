class A[T]:
    def forward(self, a):
        not ('_mt' in globals() or globals().__setitem__('_mt', __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 17ed6df4a8d293f057715cbe4634b4a2 _mt pep695_generic_class_first.py --forward 2,2 1,0,<module> 1,0,A.forward e2:5/1=self=a r1:9=return,-1.1~r0 .'))); not (_mt and _mt(0, self, a)); not (_mt and _mt(1, a)); return a
