_mt = __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 34adecb1d370597a1adbb9ed00e3cf9a _mt return_attribute.py --all 2,2 1,0,<module> 1,0,f e2:1/1=self r1:5=return,self.x~r0 .');  # Return attribute.
def f(self):
    not (_mt and _mt(0, self)); return (_mt_v := ( self.x)) is not _mt and _mt and _mt(1, _mt_v) or _mt_v
