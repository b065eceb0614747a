"""`eval` moved before the call that it changes."""

MODEL = """
import torch

torch.manual_seed(0)
net = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.BatchNorm1d(4))
x = torch.randn(8, 4)
@CALLS
y = h * 2
"""

GOOD = MODEL.replace("@CALLS", "h = net(x)\nnet.eval()")
BAD = MODEL.replace("@CALLS", "net.eval()  # HERE\nh = net(x)")
