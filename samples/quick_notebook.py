# A matrix product and a ReLU, as typed into a notebook: what was recorded is shown under the cell.
# In a script there is nowhere to show it: `monitorch.off(filename="flow.png", save=True)` saves it.

import torch
import monitorch

monitorch.on(show=True, save=False)

x = torch.randn(8, 8)
w = torch.randn(8, 8)
y = x @ w
z = torch.relu(y)

monitorch.off()
