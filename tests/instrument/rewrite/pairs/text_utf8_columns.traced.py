_mt = __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 4ca3138dd44be907b0ef89205191385c _mt text_utf8_columns.py --forward 2,4 1,0,<module> 2,0,A.forward e3:5/1=self=x a1:9=y,-1.1~pkr0. a:24=z,-1~r0 r1:9=return,-1~r0 .'); import torch
class A:
    def forward(self, x):
        not (_mt and _mt(0, self, x)); y = '日本語' + x; not (_mt and _mt(1, y)); z = y; _mt and _mt(2, z)
        not (_mt and _mt(3, z)); return z
