import torch
class A:
    def forward(self, x):
        y = x + 1
# out here
            # deep
        if y:
            return y
        return x + y
