_mt = __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 b5fd41fd71a3ce49e00e1b724dcc5eec _mt annotated_attribute_tuple.py --all 2,3 1,0,<module> 1,0,f e2:1/1=self=a a1:5=+self.x,-1.1,-1~lr0k. a1=+self.y,-2.1,-2~lxr0k. .');  # Annotated attribute tuple.
def f(self, a):
    not (_mt and _mt(0, self, a)); self.x: tuple = a, 1; _mt and _mt(1, self)
    self.y: tuple = *a, 1; _mt and _mt(2, self)
    pass
