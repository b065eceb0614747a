_mt = __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 adde3324bede4c9a78d58f8820d27cd3 _mt return_call.py --all 2,2 1,0,<module> 1,0,f e2:1/1=self=a r1:5=return,-1,-1.1~mlayer;r0r1. .');  # Return call.
def f(self, a):
    not (_mt and _mt(0, self, a)); return (_mt_v := ( self.layer(a))) is not _mt and _mt and _mt(1, _mt_v) or _mt_v
