"""Attention whose scores overflow for one sentence of three: what each line did, told while it happens.

`attend` tells its calls in which a NaN or an infinity was met, with what its lines changed of `scores`
and `weights`; `answer` tells what goes in and comes out.

    python samples/tracked.py                # on stdout, and in logs/NOTAG/process_…_thread_….log
    LTAG=today python samples/tracked.py     # in logs/today/
"""

import torch
from monitorch.tracker import auto_diff, configure, var_tracker


@var_tracker("scores", "weights", when="nan")
def attend(q, k):
    scores = (q @ k.T).half()  # beyond 65504 float16 has infinities alone
    scores -= scores.amax(dim=-1, keepdim=True)
    weights = scores.softmax(dim=-1)
    return weights


@auto_diff
def answer(sentences):
    return [attend(words, words).isnan().any().item() for words in sentences]


def main():
    configure(labels="en", elapsed=False)
    words = torch.arange(6.0).reshape(2, 3)
    answer([words, words * 100, -words])


if __name__ == "__main__":
    main()
