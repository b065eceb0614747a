"""A residual network for images, of stages that repeat the same block.

Stages differ in how often they repeat and whether a block's shortcut has a convolution of its own:
the picture of the calls has that, with `--squash-name` the four stages' blocks are one.

    python samples/calls/residual.py          # writes monitorch_outputs/residual.txt and .png
    monitorch calls monitorch_outputs/residual.txt -o stages.svg --squash-name --no-prune-leaves
"""

import torch
from monitorch.spy import CallTracer, build_tree, construct_graph, render_graph
from torch import nn


class Block(nn.Module):
    def __init__(self, inputs, outputs, stride):
        super().__init__()
        self.conv1 = nn.Conv2d(inputs, outputs, 3, stride, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(outputs)
        self.relu = nn.ReLU()
        self.conv2 = nn.Conv2d(outputs, outputs, 3, 1, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(outputs)
        self.shortcut = None
        if stride != 1 or inputs != outputs:
            self.shortcut = nn.Sequential(
                nn.Conv2d(inputs, outputs, 1, stride, bias=False), nn.BatchNorm2d(outputs)
            )

    def forward(self, x):
        kept = x if self.shortcut is None else self.shortcut(x)
        x = self.relu(self.bn1(self.conv1(x)))
        return self.relu(kept + self.bn2(self.conv2(x)))


def stage(inputs, outputs, count, stride):
    blocks = [Block(inputs, outputs, stride)]
    blocks += [Block(outputs, outputs, 1) for _ in range(count - 1)]
    return nn.Sequential(*blocks)


class Residual(nn.Module):
    def __init__(self, classes=10):
        super().__init__()
        self.stem = nn.Sequential(
            nn.Conv2d(3, 16, 3, padding=1, bias=False), nn.BatchNorm2d(16), nn.ReLU()
        )
        self.layer1 = stage(16, 16, 2, 1)
        self.layer2 = stage(16, 32, 3, 2)
        self.layer3 = stage(32, 64, 4, 2)
        self.layer4 = stage(64, 128, 2, 2)
        self.pool = nn.AdaptiveAvgPool2d(1)
        self.head = nn.Linear(128, classes)

    def forward(self, images):
        x = self.stem(images)
        x = self.layer4(self.layer3(self.layer2(self.layer1(x))))
        return self.head(self.pool(x).flatten(1))


def main():
    torch.manual_seed(0)
    model = Residual().eval()
    tracer = CallTracer("monitorch_outputs")
    tracer.register_hooks(model, shapes=True)
    with tracer, torch.no_grad():
        model(torch.randn(2, 3, 32, 32))
    tracer.save_trace("residual.txt")
    graph = construct_graph(build_tree(tracer.get_trace()), prune_leaves_flag=False)
    print(render_graph(graph, "monitorch_outputs/residual.png"))


if __name__ == "__main__":
    main()
