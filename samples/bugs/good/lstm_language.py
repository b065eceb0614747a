"""Writes text with a small LSTM, one character after the other; it is in eval mode."""

import torch
from torch import nn
from torch.nn import functional

LETTERS = "abcdefghijklmnopqrstuvwxyz "


class Writer(nn.Module):
    def __init__(self, width=32):
        super().__init__()
        self.embed = nn.Embedding(len(LETTERS), width)
        self.first = nn.LSTMCell(width, width)
        self.second = nn.LSTMCell(width, width)
        self.head = nn.Linear(width, len(LETTERS))

    def forward(self, letter, first_state, second_state):
        x = self.embed(letter)
        first_state = self.first(x, first_state)
        between = functional.dropout(first_state[0], 0.2, self.training)
        second_state = self.second(between, second_state)
        scores = self.head(second_state[0])
        return scores, first_state, second_state


def write(model, start):
    letters = [LETTERS.index(start)]
    first_state = second_state = None
    for _ in range(8):
        letter = torch.tensor(letters[-1:])
        scores, first_state, second_state = model(letter, first_state, second_state)
        letters.append(int(scores.argmax()))
    return "".join(LETTERS[i] for i in letters)


def main():
    torch.manual_seed(0)
    model = Writer()
    model.eval()
    with torch.no_grad():
        text = write(model, "m")
    print(repr(text))


if __name__ == "__main__":
    main()
