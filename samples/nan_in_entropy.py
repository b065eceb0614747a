"""The entropy of three histograms, two of which are trouble: one has empty classes, one is empty.

Shows the line that made the first infinity and the line that made the first NaN: 0 / 0 in the
empty histogram, then log2(0) = -inf, then 0 * -inf. All numbers are exact in float32.

    python samples/nan_in_entropy.py      # writes monitorch_outputs/nan_in_entropy.svg
"""

import monitorch
import torch


def entropy(counts):
    total = counts.sum(dim=-1, keepdim=True)
    share = counts / total
    bits = share.log2()
    terms = share * bits
    return -terms.sum(dim=-1)


if __name__ == "__main__":
    counts = torch.tensor([[4.0, 2.0, 1.0, 1.0], [8.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0]])
    monitorch.on(show=False, save=True)
    result = entropy(counts)
    monitorch.off(filename="nan_in_entropy.svg")
