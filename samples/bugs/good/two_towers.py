"""Which article fits a question: bags of words in half precision, compared by their cosine."""

import torch
from torch import nn


class Tower(nn.Module):
    def __init__(self, vocabulary=100, width=64):
        super().__init__()
        self.words = nn.EmbeddingBag(vocabulary, width, mode="sum")
        self.out = nn.Linear(width, width)

    def forward(self, bags):
        x = self.out(self.words(bags))
        length = x.float().pow(2).sum(dim=-1, keepdim=True).sqrt().half()
        return x / length


def main():
    torch.manual_seed(0)
    questions, articles = Tower(), Tower()
    for tower in (questions, articles):
        nn.init.normal_(tower.words.weight, std=20.0)
        tower.half()
    with torch.no_grad():
        asked = questions(torch.randint(0, 100, (4, 6)))
        found = articles(torch.randint(0, 100, (10, 30)))
        cosines = asked @ found.T
    print("best articles", cosines.argmax(dim=-1).tolist())


if __name__ == "__main__":
    main()
