"""A number that nothing recorded was made from, edited before the cause: both lines are named."""

MODEL = """
import torch

torch.manual_seed(0)
net = torch.nn.Linear(4, 4)
x = torch.randn(2, 4)
eps = 1e-5
with torch.no_grad():
    h = net(x) * 2
"""

GOOD = MODEL
BAD = MODEL.replace("1e-5", "1e-6  # HERE").replace("no_grad", "enable_grad")
