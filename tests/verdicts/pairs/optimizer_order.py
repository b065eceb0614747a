"""zero_grad() between backward() and step(): a line that moved."""

GOOD = r'''
import torch

torch.manual_seed(0)
model = torch.nn.Linear(4, 2)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.5)
for step in range(3):
    x = torch.ones(2, 4) * step
    y = model(x)
    loss = y.pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
'''
BAD = r'''
import torch

torch.manual_seed(0)
model = torch.nn.Linear(4, 2)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.5)
for step in range(3):
    x = torch.ones(2, 4) * step
    y = model(x)
    loss = y.pow(2).mean()
    loss.backward()
    optimizer.zero_grad()  # HERE
    optimizer.step()  # HERE
'''
