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

HELD = {}

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
    "nan_to_num right behind": """
        x = torch.tensor([0.0, 1.0], requires_grad=True)
        with torch.no_grad():
            y = torch.nan_to_num(x / 1)
        (x * y).sum().backward()
    """,
}
"""What must give no alarm."""
