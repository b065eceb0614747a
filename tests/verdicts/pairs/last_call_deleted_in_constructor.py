"""A call that ended a constructor: the line behind which it was, not the function below that never ran."""

MODEL = '''
import torch
torch.manual_seed(0)
class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.w = torch.nn.Parameter(torch.zeros(4, 4))
        self.b = torch.nn.Parameter(torch.zeros(4))@CALL
    def reset(self):
        torch.nn.init.uniform_(self.w)
        torch.nn.init.constant_(self.b, 0.5)
    def forward(self, x):
        y = x @ self.w + self.b
        return y
net = Net()
y = net(torch.ones(2, 4))
'''
GOOD = MODEL.replace("@CALL", "\n        self.reset()")
BAD = MODEL.replace("@CALL", "  # HERE")
