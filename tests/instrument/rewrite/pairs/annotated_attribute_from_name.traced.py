_mt = __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 f05046d60706397ea07e69cc4040f3a2 _mt annotated_attribute_from_name.py --all 2,2 1,0,<module> 1,0,f e2:1/1=self=a a1:5=self.x,-1.1,-1~r0 .');  # Annotated attribute from name.
def f(self, a):
    not (_mt and _mt(0, self, a)); self.x: int = a; _mt and _mt(1, a)
    pass
