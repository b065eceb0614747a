"""Sentences of different lengths, padded, through a GRU; its outputs, averaged over words."""

import torch
from torch import nn


class Sentences(nn.Module):
    def __init__(self, vocabulary=40, width=16, classes=3):
        super().__init__()
        self.words = nn.Embedding(vocabulary, width, padding_idx=0)
        self.gru = nn.GRU(width, width, batch_first=True, bidirectional=True)
        self.head = nn.Linear(2 * width, classes)

    def forward(self, tokens, lengths):
        x = self.words(tokens)
        outputs, _ = self.gru(x)
        places = torch.arange(tokens.shape[1])
        is_word = places[None, :] <= lengths[:, None]
        kept = outputs * is_word[:, :, None]
        average = kept.sum(dim=1) / is_word.sum(dim=1, keepdim=True)
        return self.head(average)


def make_batch():
    lengths = torch.tensor([7, 4, 2])
    tokens = torch.randint(1, 40, (3, 7))
    for row, length in zip(tokens, lengths.tolist()):
        row[length:] = 0
    return tokens, lengths


def main():
    torch.manual_seed(0)
    model = Sentences().eval()
    tokens, lengths = make_batch()
    with torch.no_grad():
        scores = model(tokens, lengths)
    print("classes", scores.argmax(dim=-1).tolist())


if __name__ == "__main__":
    main()
