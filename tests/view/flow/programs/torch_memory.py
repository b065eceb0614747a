"""Tensors that are written to behind their names' backs."""
# begin
import torch

x = torch.zeros(4, dtype=torch.int64)
y = x.view(2, 2)
y.data.add_(1)
y.numpy()[0] = 9
z = x.clone()
z.mul_(2).sub_(1)
torch.add(z, 3, out=z)
z[1:3] = x[1:3]
flag = z > 3
z[flag] = 0
scalar = z.sum()
scalar += 1
parts = torch.arange(6).chunk(2)
first, second = parts
first.copy_(second)
end = first + parts[0] + scalar
# end
