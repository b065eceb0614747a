"""A `with` around the line, and another setting that is edited."""

HEAD = '''
import torch
torch.manual_seed(0)
def run(net, x):
    with torch.%s
        h = net(x)
        y = h * 2
    return y
net = torch.nn.Linear(3, 3)
optimizer = torch.optim.AdamW(net.parameters(), lr=%s)
x = torch.randn(4, 3)
y = run(net, x)
z = y + 1
'''
GOOD = HEAD % ("enable_grad():", "1e-2")
BAD = HEAD % ("no_grad():  # HERE", "1e-3")
