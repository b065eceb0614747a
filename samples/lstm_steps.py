"""A long short-term memory that reads 50 values, its steps in a Python loop.

Shows folding: the 50 turns of the loop, and the 50 calls of the cell inside them, are drawn once,
with the range of what their values were; the arrow back to the loop's beginning is what one turn
hands to the next. `fold="none"` draws each turn.

    python samples/lstm_steps.py          # writes monitorch_outputs/lstm_steps.svg
"""

import monitorch
import torch
from torch import nn


class Cell(nn.Module):
    def __init__(self, inputs, width):
        super().__init__()
        self.from_input = nn.Linear(inputs, 4 * width)
        self.from_hidden = nn.Linear(width, 4 * width, bias=False)

    def forward(self, x, hidden, memory):
        gates = self.from_input(x) + self.from_hidden(hidden)
        take, keep, new, give = gates.chunk(4, dim=-1)
        memory = keep.sigmoid() * memory + take.sigmoid() * new.tanh()
        hidden = give.sigmoid() * memory.tanh()
        return hidden, memory


class Reader(nn.Module):
    def __init__(self, inputs=1, width=8):
        super().__init__()
        self.width = width
        self.cell = Cell(inputs, width)
        self.head = nn.Linear(width, 1)

    def forward(self, series):
        hidden = torch.zeros(series.shape[1], self.width)
        memory = torch.zeros_like(hidden)
        for x in series:
            hidden, memory = self.cell(x, hidden, memory)
        return self.head(hidden)


if __name__ == "__main__":
    torch.manual_seed(0)
    model = Reader()
    series = torch.linspace(-1, 1, 50).sin().view(50, 1, 1).repeat(1, 2, 1)
    monitorch.on(show=False, save=True, max_nodes=40)
    with torch.no_grad():
        answer = model(series)
    monitorch.off(filename="lstm_steps.svg")
