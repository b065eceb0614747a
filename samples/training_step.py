"""One training step of a net with two layers: forward, loss, backward, and the weights changed in place.

Shows that an in-place write is drawn differently from a new value, and that gradients, which no
line of the program assigns, are seen where they are read.

    python samples/training_step.py       # writes monitorch_outputs/training_step.svg
"""

import monitorch
import torch

RATE = 0.0625


def make_weights():
    first = torch.arange(12.0).remainder(5).view(3, 4) - 2
    second = torch.tensor([[1.0], [-1.0], [2.0], [0.5]])
    return first.requires_grad_(), second.requires_grad_()


def train_step(x, target, first, second):
    hidden = (x @ first).relu()
    predicted = hidden @ second
    error = predicted - target
    loss = error.square().mean()
    loss.backward()
    with torch.no_grad():
        first_gradient = first.grad
        second_gradient = second.grad
        first -= RATE * first_gradient
        second -= RATE * second_gradient
    return loss


if __name__ == "__main__":
    x = torch.arange(12.0).remainder(7).view(4, 3) - 3
    target = torch.tensor([[2.0], [0.0], [-1.0], [4.0]])
    first, second = make_weights()
    monitorch.on(show=False, save=True, max_nodes=20)
    loss = train_step(x, target, first, second)
    monitorch.off(filename="training_step.svg")
