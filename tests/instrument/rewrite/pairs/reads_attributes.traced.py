_mt = __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 32f2f7e59e66b75e00f83667d083520f _mt reads_attributes.py --all 2,3 1,0,<module> 1,0,f e2:1/1=self=a a1:5=c,self.w,a.b.c~pr0r1. r1=return,-1~r0 .');  # Reads attributes.
def f(self, a):
    not (_mt and _mt(0, self, a)); c = self.w @ a.b.c; _mt and _mt(1, c)
    not (_mt and _mt(2, c)); return c
