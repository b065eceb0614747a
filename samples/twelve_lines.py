"""A function of twelve lines: one step of a linear fit on features that are centred and scaled.

Shows how the lines of a function become a picture: parameters above, what is returned below, the
line that writes in place drawn as such. All numbers are exact in float32.

    python samples/twelve_lines.py        # writes monitorch_outputs/twelve_lines.svg
"""

import monitorch
import torch


def fit_step(x, y, w, rate):
    mean = x.mean(dim=0)
    centred = x - mean
    scale = centred.abs().amax(dim=0)
    features = centred / scale
    predicted = features @ w
    error = predicted - y
    loss = (error * error).mean()
    gradient = features.T @ error
    gradient /= len(x)
    step = rate * gradient
    w = w - step
    return w, loss


def make_data():
    column = torch.tensor([-4.0, -3.0, -2.0, -1.0, 1.0, 2.0, 3.0, 4.0])
    x = torch.stack([column.roll(3 * k) + 2 * k for k in range(4)], dim=1)
    w = torch.tensor([1.0, -2.0, 0.5, 4.0])
    return x, x @ torch.tensor([2.0, -1.0, 0.5, 1.0]), w


if __name__ == "__main__":
    x, y, w = make_data()
    monitorch.on(show=False, save=True, max_nodes=20)
    w, loss = fit_step(x, y, w, rate=0.5)
    monitorch.off(filename="twelve_lines.svg")
