"""detach() is gone: values of the forward are equal, gradients are not."""

GOOD = r'''
import torch

torch.manual_seed(0)
model = torch.nn.Linear(4, 2)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.5)
for step in range(3):
    x = torch.ones(2, 4) * step
    y = model(x)
    loss = (y * y.detach()).mean()
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
    loss = (y * y).mean()  # HERE
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
'''
