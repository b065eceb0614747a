"""Programs whose gradients become NaN or infinite, each with the line whose backward makes it, marked `#!`;
and twins of them that are right, whose answer begins with `ok:`.

HELD are those that were written down before the code and run when it was done.
"""

BROKEN = {
    "sqrt at 0": """
        x = torch.tensor([0.0, 1.0], requires_grad=True)
        square = x * x
        root = torch.sqrt(square)  #!
        root.sum().backward()
    """,
    "distance of a point from itself": """
        x = torch.randn(3, 2, requires_grad=True)
        difference = x[:, None] - x[None]
        square = difference.pow(2).sum(-1)
        distance = square ** 0.5  #!
        loss = distance.mean()
        loss.backward()
    """,
    "where, with a NaN in the branch not taken": """
        x = torch.tensor([-1.0, 4.0], requires_grad=True)
        y = torch.where(x > 0, x.sqrt(), 0.0)  #!
        y.sum().backward()
    """,
    "where, with a log of 0 in the branch not taken": """
        p = torch.tensor([0.0, 0.5], requires_grad=True)
        scaled = p * 1
        entropy = torch.where(scaled > 0, scaled * scaled.log(), 0.0)  #!
        entropy.sum().backward()
    """,
    "acos at 1": """
        x = torch.tensor([1.0, 0.0], requires_grad=True)
        cosine = x * 1
        angle = torch.acos(cosine)  #!
        angle.sum().backward()
    """,
    "division by 0, hidden by where": """
        x = torch.tensor([0.0, 2.0], requires_grad=True)
        d = x * 1
        ratio = torch.where(d != 0, 1 / d, torch.zeros(()))  #!
        ratio.sum().backward()
    """,
    "a power below 1": """
        x = torch.zeros(3, requires_grad=True)
        a = x.abs()
        loss = a.pow(0.3).sum()  #!
        loss.backward()
    """,
    "half precision": """
        x = torch.tensor([2e-6, 1e-6], dtype=torch.float16, requires_grad=True)
        h = x * 400  #!
        loss = (h * 400).sum()
        scaled = loss * 100
        scaled.backward()
    """,
    "a product over 50 steps": """
        w = torch.full((2, 2), 40.0)
        x = torch.zeros(2, requires_grad=True)
        h = x * 1
        for step in range(50):
            h = w @ h  #!
        loss = h.sum()
        loss.backward()
    """,
    "a function of the program's": """
        class Bad(torch.autograd.Function):
            @staticmethod
            def forward(ctx, x):
                return x * 2

            @staticmethod
            def backward(ctx, gradient):
                return gradient / 0  #!

        x = torch.ones(3, requires_grad=True)
        h = x + 1
        y = Bad.apply(h)
        z = y * 3
        z.sum().backward()
    """,
    "a module called twice": """
        class Root(torch.nn.Module):
            def forward(self, x):
                squared = x * x
                return squared.sqrt()  #!

        root = Root()
        x = torch.tensor([1.0, 2.0], requires_grad=True)
        first = root(x)
        second = root(first - first.detach())
        (first + second).sum().backward()
    """,
    "checkpoint": """
        from torch.utils.checkpoint import checkpoint

        def block(x):
            squared = x * x
            return squared.sqrt()  #!

        x = torch.zeros(3, requires_grad=True)
        h = checkpoint(block, x, use_reentrant=False)
        h.sum().backward()
    """,
    "a hidden layer that nothing records": """
        layer = torch.nn.Linear(3, 3, bias=False)
        x = torch.zeros(2, 3, requires_grad=True)
        h = layer(x)
        norm = (h * h).sum(-1).sqrt()  #!
        norm.sum().backward()
    """,
    "two uses, of which one is bad": """
        x = torch.zeros(3, requires_grad=True)
        h = x * 2
        good = (h * 3).sum()
        bad = h.abs().sqrt().sum()  #!
        (good + bad).backward()
    """,
    "a hook of the program's": """
        x = torch.ones(3, requires_grad=True)
        h = x * 2  #!
        h.register_hook(lambda gradient: gradient * float("inf"))
        y = h + 1
        y.sum().backward()
    """,
    "clamped too late": """
        x = torch.zeros(2, requires_grad=True)
        h = x * 1
        norm = torch.sqrt((h ** 2).sum()).clamp(min=1e-6)  #!
        (h / norm).sum().backward()
    """,
    "an optimizer's step, then the forward": """
        class Model(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.proj = torch.nn.Linear(2, 2, bias=False)

            def forward(self, x):
                a = self.proj(x)
                square = (a * a).sum(-1)
                return square.sqrt()  #!

        model = Model()
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        x = torch.tensor([[0.0, 0.0], [1.0, 1.0]])
        for step in range(3):
            loss = model(x).sum()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    """,
}

HELD = {
    "weights that are tied": """
        class Tied(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.embedding = torch.nn.Embedding(5, 3, padding_idx=0)
                self.head = torch.nn.Linear(3, 5, bias=False)
                self.head.weight = self.embedding.weight

            def forward(self, tokens):
                h = self.embedding(tokens)
                length = h.pow(2).sum(-1)
                scale = length.sqrt()  #!
                return self.head(h * scale[..., None])

        model = Tied()
        logits = model(torch.tensor([[0, 1, 2]]))
        logits.sum().backward()
    """,
    "a log that a mask hides": """
        logits = torch.tensor([[0.0, -200.0]], requires_grad=True)
        p = logits.softmax(-1)
        losses = torch.where(p > 1e-6, -p.log(), 0.0)  #!
        losses.sum().backward()
    """,
    "asin at the edge of a clamp": """
        x = torch.tensor([3.0, 0.5], requires_grad=True)
        y = (x * 1).clamp(-1, 1) + 0
        angle = torch.asin(y)  #!
        angle.sum().backward()
    """,
    "a padding row that is normalised": """
        table = torch.nn.Embedding(4, 3, padding_idx=0)
        v = table(torch.tensor([0, 1]))
        length = v.pow(2).sum(-1, keepdim=True).sqrt()  #!
        unit = v / length.clamp(min=1e-8)
        unit.sum().backward()
    """,
    "rsqrt under a mask": """
        degree = torch.tensor([0.0, 2.0], requires_grad=True)
        d = degree * 1
        inverse = torch.where(d > 0, d.rsqrt(), 0.0)  #!
        inverse.sum().backward()
    """,
    "an RNN over 50 steps": """
        rnn = torch.nn.RNN(2, 2, nonlinearity="relu", bias=False)
        with torch.no_grad():
            rnn.weight_hh_l0.fill_(30.0)
            rnn.weight_ih_l0.fill_(1.0)
        x = torch.zeros(50, 1, 2, requires_grad=True)
        scaled = x * 1 + 1e-44
        out, last = rnn(scaled)  #!
        out[-1].sum().backward()
    """,
    "the deviation of equal rows": """
        x = torch.ones(2, 4, requires_grad=True)
        h = x * 3
        variance = h.var(-1)
        deviation = torch.sqrt(variance)  #!
        deviation.mean().backward()
    """,
    "a method that keeps the root": """
        class Norm(torch.nn.Module):
            def forward(self, x):
                self.total = (x ** 2).mean(-1)
                self.root = self.total ** 0.5  #!
                return x * 2 + self.root[..., None]

        norm = Norm()
        x = torch.zeros(2, 3, requires_grad=True)
        norm(x).sum().backward()
    """,
}

NO_SCRIPT = {"a hook of the program's": "code that is not recorded"}
"""For which `why --repro` writes no script, and a part of what it says."""

BENIGN = {
    "a causal mask": """
        x = torch.randn(4, 4, requires_grad=True)
        mask = torch.triu(torch.ones(4, 4, dtype=torch.bool), 1)
        scores = (x @ x.T).masked_fill(mask, -torch.inf)
        weights = scores.softmax(-1)
        (weights @ x).sum().backward()
    """,
    "where, with both branches made safe": """
        x = torch.tensor([-1.0, 4.0], requires_grad=True)
        safe = torch.where(x > 0, x, 1.0)
        y = torch.where(x > 0, safe.sqrt(), 0.0)
        y.sum().backward()
    """,
    "an eps under the root": """
        x = torch.zeros(3, requires_grad=True)
        root = (x * x + 1e-12).sqrt()
        root.sum().backward()
    """,
    "gradients that are None and zero": """
        x = torch.ones(3, requires_grad=True)
        unused = torch.ones(3, requires_grad=True)
        h = x * 0
        h.sum().backward()
    """,
    "norm at 0": """
        x = torch.zeros(3, requires_grad=True)
        h = x * 2
        h.norm().backward()
    """,
    "a step that a scaler skips": """
        model = torch.nn.Linear(2, 1)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        scale = 1e38
        for step in range(4):
            y = model(torch.ones(1, 2) * 10) * 0.01
            h = y * 1000
            loss = (h * 1e-6 * scale).sum()
            optimizer.zero_grad()
            loss.backward()
            finite = all(p.grad.isfinite().all() for p in model.parameters())
            if finite:
                for p in model.parameters():
                    p.grad /= scale
                optimizer.step()
            else:
                scale = 1.0
    """,
    "a GradScaler that skips steps until its scale is right": """
        model = torch.nn.Linear(4, 4)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.0001)
        scaler = torch.amp.GradScaler("cpu", init_scale=2.0**24)
        for step in range(14):
            with torch.autocast("cpu", dtype=torch.float16):
                h = model(torch.randn(3, 4))
                loss = h.float().pow(2).mean()
            optimizer.zero_grad()
            scaler.scale(loss).backward()
            scaler.step(optimizer)
            scaler.update()
    """,
    "nan_to_num right behind": """
        x = torch.tensor([0.0, 1.0], requires_grad=True)
        with torch.no_grad():
            y = torch.nan_to_num(x / 1)
        (x * y).sum().backward()
    """,
    "a double where around a division": """
        d = torch.tensor([0.0, 2.0], requires_grad=True)
        safe = torch.where(d == 0, 1.0, d)
        ratio = torch.where(d == 0, 0.0, 1 / safe)
        ratio.sum().backward()
    """,
    "a norm that is clamped first": """
        x = torch.zeros(2, 3, requires_grad=True)
        length = x.pow(2).sum(-1).clamp(min=1e-12).sqrt()
        length.sum().backward()
    """,
    "a hook that mends a gradient": """
        x = torch.tensor([0.0, 1.0], requires_grad=True)
        x.register_hook(lambda g: torch.nan_to_num(g, posinf=0.0))
        y = x + 0
        y.sum().backward()
    """,
    "a checkpoint": """
        from torch.utils.checkpoint import checkpoint
        x = torch.ones(3, requires_grad=True)
        h = checkpoint(lambda v: v.exp(), x, use_reentrant=False)
        h.sum().backward()
    """,
    "an exponent of 2 at 0": """
        x = torch.zeros(3, requires_grad=True)
        y = (x ** 2).sum()
        y.backward()
    """,
    "log1p at 0": """
        x = torch.zeros(3, requires_grad=True)
        torch.log1p(x).sum().backward()
    """,
    "a loss that ignores some targets": """
        x = torch.randn(4, 3, requires_grad=True)
        target = torch.tensor([0, -100, 2, -100])
        loss = torch.nn.functional.cross_entropy(x, target)
        loss.backward()
    """,
    "normalize of a zero row": """
        x = torch.zeros(2, 3, requires_grad=True)
        y = torch.nn.functional.normalize(x, dim=-1)
        y.sum().backward()
    """,
    "layer norm of equal values": """
        x = torch.ones(2, 4, requires_grad=True)
        y = torch.nn.LayerNorm(4)(x)
        y.sum().backward()
    """,
    "a training of three steps": """
        model = torch.nn.Sequential(torch.nn.Linear(3, 3), torch.nn.ReLU(), torch.nn.Linear(3, 1))
        optimizer = torch.optim.AdamW(model.parameters())
        for step in range(3):
            loss = model(torch.randn(4, 3)).pow(2).mean()
            optimizer.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
    """,
    "sigmoid far out": """
        x = torch.tensor([1000.0, -1000.0], requires_grad=True)
        torch.sigmoid(x).sum().backward()
    """,
    "log of softmax by its function": """
        x = torch.tensor([[0.0, -2000.0]], requires_grad=True)
        torch.nn.functional.log_softmax(x, -1).sum().backward()
    """,
    "attention with a key mask": """
        q, k, v = (torch.randn(1, 1, 3, 4, requires_grad=True) for _ in range(3))
        mask = torch.tensor([True, True, False])[None, None, None]
        out = torch.nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=mask)
        out.sum().backward()
    """,
    "bfloat16 autocast": """
        layer = torch.nn.Linear(4, 4)
        with torch.autocast("cpu", dtype=torch.bfloat16):
            loss = layer(torch.randn(2, 4)).float().mean()
        loss.backward()
    """,
    "an infinity that no gradient passes": """
        x = torch.randn(3, requires_grad=True)
        best = torch.tensor(float("inf"))
        y = torch.minimum(x, best)
        y.sum().backward()
    """,
    "a division by a detached count": """
        x = torch.randn(3, requires_grad=True)
        count = (x.detach() > 100).sum().clamp(min=1)
        loss = x.sum() / count
        loss.backward()
    """,
    "gradients that are accumulated": """
        w = torch.ones(3, requires_grad=True)
        for step in range(3):
            loss = (w * step).sum()
            loss.backward()
    """,
}
"""What must give no alarm."""
