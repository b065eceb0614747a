"""A training loop with momentum and a limit for the gradient, all written out."""

import torch
from torch import nn
from torch.nn import functional


def clip(gradients, limit):
    squares = [gradient.pow(2).sum() for gradient in gradients]
    total = torch.stack(squares).sum().sqrt()
    if total > 0:
        factor = limit / total
        gradients = [gradient * factor for gradient in gradients]
    return gradients


def update(parameters, gradients, speeds, rate=0.05, momentum=0.9):
    with torch.no_grad():
        for parameter, gradient, speed in zip(parameters, gradients, speeds):
            speed.mul_(momentum).add_(gradient)
            parameter.sub_(rate * speed)


def train(model, inputs, targets):
    parameters = list(model.parameters())
    speeds = [torch.zeros_like(parameter) for parameter in parameters]
    for _ in range(4):
        output = model(inputs)
        loss = functional.mse_loss(output, targets)
        gradients = torch.autograd.grad(loss, parameters)
        gradients = clip(gradients, limit=5.0)
        update(parameters, gradients, speeds)
    return loss


def main():
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(6, 16), nn.Tanh(), nn.Linear(16, 1))
    inputs = torch.randn(32, 6)
    targets = inputs[:, :1] * inputs[:, 1:2]
    loss = train(model, inputs, targets)
    print(f"loss {loss.item():.5f}")


if __name__ == "__main__":
    main()
