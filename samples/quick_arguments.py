# A function is called with arguments that monitorch.run finds: x is given here, scale and bias are
# hints. What it has to make up by itself is marked as a guess.

import torch
import monitorch

def block(x, scale: float, bias):
    y = x * scale
    return y + bias

monitorch.args(scale=0.5, bias=torch.ones(8, 8))
monitorch.on(show=False, save=True)
out = monitorch.run(block, x=torch.randn(8, 8))
monitorch.off(filename="inferred.png")
