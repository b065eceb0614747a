"""An import and a default that change nothing, before the setting of the optimizer that does."""

HEAD = '''
import torch
%s
torch.manual_seed(0)
def describe(x%s):
    return str(x.shape)
net = torch.nn.Linear(3, 3)
optimizer = torch.optim.AdamW(net.parameters(), lr=1e-2, weight_decay=%s
x = torch.randn(4, 3)
for i in range(3):
    y = net(x)
    loss = y.square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
'''
GOOD = HEAD % ("import math", "", "0.01)")
BAD = HEAD % ("import math, os", ", prefix=''", "0.5)  # HERE")
