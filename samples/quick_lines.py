# Only the lines 10 to 40 of this file are drawn, and the picture is saved as
# monitorch_outputs/block.png. The sums of the softmax's rows are 1; c is a view of b.
# The lines are counted from the top of the file, this one included.

import torch
import monitorch

monitorch.lines(10, 40)  # only monitor these lines in this file
monitorch.on(show=False, save=True, save_dir="monitorch_outputs")

a = torch.randn(16, 16)
b = a.softmax(dim=-1)
c = b[:, :8]

monitorch.off(filename="block.png")
