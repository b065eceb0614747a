import torch
class A:
    def forward(self, x):
        y = '日本語' + x; z = y
        return z
