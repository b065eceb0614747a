import torch

class A(torch.jit.ScriptModule):
    @torch.jit.script_method
    def forward(self, a):
        b = a
        return b
