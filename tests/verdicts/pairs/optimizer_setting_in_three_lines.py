"""A setting in a later line of a call: the line at which the statement begins."""

HEAD = '''
import torch
torch.manual_seed(0)
net = torch.nn.Linear(3, 3)
optimizer = torch.optim.AdamW(
    net.parameters(),  # HERE
    lr=1e-2,
    betas=(0.9, %s),
)
x = torch.randn(4, 3)
for i in range(3):
    y = net(x)
    loss = y.square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
'''
GOOD = (HEAD % "0.99")
BAD = (HEAD % "0.9").replace("AdamW(", "AdamW(  # HERE").replace("(),  # HERE", "(),")
GOOD = GOOD.replace("AdamW(", "AdamW(  # HERE").replace("(),  # HERE", "(),")
