"""An encoder and a decoder: text is read once, and answered letter by letter.

The decoder's modules are called once for each letter of the answer, the encoder's once: the
picture says so ("8 calls").

    python samples/calls/encoder_decoder.py   # writes monitorch_outputs/encoder_decoder.txt and .png
    python -m monitorch run -o answer.mtrace samples/calls/encoder_decoder.py
    monitorch calls answer.mtrace             # the same, from a recording
"""

import torch
from monitorch.spy import CallTracer, build_tree, construct_graph, render_graph
from torch import nn


class Encoder(nn.Module):
    def __init__(self, letters, width, depth):
        super().__init__()
        self.embed = nn.Embedding(letters, width)
        self.layers = nn.ModuleList(
            nn.TransformerEncoderLayer(width, 4, 2 * width, 0.0, batch_first=True)
            for _ in range(depth)
        )
        self.norm = nn.LayerNorm(width)

    def forward(self, text):
        x = self.embed(text)
        for layer in self.layers:
            x = layer(x)
        return self.norm(x)


class Decoder(nn.Module):
    def __init__(self, letters, width, depth):
        super().__init__()
        self.embed = nn.Embedding(letters, width)
        self.layers = nn.ModuleList(
            nn.TransformerDecoderLayer(width, 4, 2 * width, 0.0, batch_first=True)
            for _ in range(depth)
        )
        self.head = nn.Linear(width, letters)

    def forward(self, answer, memory):
        x = self.embed(answer)
        for layer in self.layers:
            x = layer(x, memory)
        return self.head(x[:, -1])


class Translator(nn.Module):
    def __init__(self, letters=40, width=32, depth=3):
        super().__init__()
        self.encoder = Encoder(letters, width, depth)
        self.decoder = Decoder(letters, width, depth)

    def forward(self, text, length):
        memory = self.encoder(text)
        answer = torch.zeros(len(text), 1, dtype=torch.long)
        for _ in range(length):
            following = self.decoder(answer, memory).argmax(-1, keepdim=True)
            answer = torch.cat((answer, following), dim=1)
        return answer


def main():
    torch.manual_seed(0)
    model = Translator()  # in training mode, where torch calls the layers' modules one by one
    tracer = CallTracer("monitorch_outputs")
    tracer.register_hooks(model, shapes=True)
    with tracer, torch.no_grad():
        model(torch.randint(0, 40, (2, 10)), 8)
    tracer.save_trace("encoder_decoder.txt")
    graph = construct_graph(build_tree(tracer.get_trace()), prune_leaves_flag=False)
    print(render_graph(graph, "monitorch_outputs/encoder_decoder.png"))


if __name__ == "__main__":
    main()
