class M(*((_mt := __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 9f1878d78527b978578aeb440e58b792 _mt pragma_unknown.py --forward 2,3 1,0,<module> 1,0,M.forward e2:5/1=self=x a3:9=y,-1.1~r0 r1=return,-1~r0 .')) and () or ())):
    def forward(self, x):
        # monitorch: maybe
        # monitorchestra: on
        not (_mt and _mt(0, self, x)); y = x; _mt and _mt(1, y)
        not (_mt and _mt(2, y)); return y
