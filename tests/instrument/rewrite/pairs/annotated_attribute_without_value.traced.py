_mt = __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 682f0a09d5321b8cafe22b0701718b67 _mt annotated_attribute_without_value.py --all 2,1 1,0,<module> 1,0,f e2:1/1=self .');  # Annotated attribute without value.
def f(self):
    not (_mt and _mt(0, self)); self.x: int
    pass
