"""Trainings whose parameters become NaN or infinite, each with the line that did it marked `#!`: a forward
line whose backward made a gradient bad, or a call that wrote to parameters; and twins that are right.

HELD are those that were written down before they were first run.
"""

NET = """
        class Net(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.proj = torch.nn.Linear(2, 2, bias=False)
                self.last = torch.nn.Linear(2, 2, bias=False)

            def forward(self, x):
                a = self.proj(x)
                square = (a * a).sum(-1)
                root = square.sqrt()  #ROOT
                return self.last(a) * root[:, None]

        ZERO, ONES = torch.tensor([[0.0, 0.0], [1.0, 1.0]]), torch.ones(2, 2)
        model = Net()
"""
BAD_ROOT = NET.replace("#ROOT", "#!")

BROKEN = {
    "momentum that carries an old infinity": BAD_ROOT + """
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
        kept = {name: value.clone() for name, value in model.state_dict().items()}
        for step in range(4):
            loss = model(ZERO if step == 0 else ONES).sum()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            if step == 0:
                model.load_state_dict(kept)
    """,
    "weight decay on a NaN": """
        table = torch.nn.Embedding(4, 3)
        with torch.no_grad():
            table.weight[2] = table.weight[2] / 0  #!
            table.weight[2] -= table.weight[2]
        optimizer = torch.optim.AdamW(table.parameters(), weight_decay=0.1)
        for step in range(3):
            rows = table(torch.tensor([0, 1 + step % 2]))
            loss = rows.pow(2).sum()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    """,
    "clip of an infinite norm": BAD_ROOT + """
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        for step in range(3):
            loss = model(ZERO).sum()
            optimizer.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
    """,
    "sparse gradients of an embedding": """
        table = torch.nn.Embedding(4, 3, sparse=True)
        with torch.no_grad():
            table.weight[1] = 0
        optimizer = torch.optim.SGD(table.parameters(), lr=0.1)
        for step in range(3):
            rows = table(torch.tensor([0, 1]))
            length = rows.pow(2).sum(-1)
            loss = length.sqrt().sum()  #!
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    """,
    "a step that is too large": """
        model = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Tanh(), torch.nn.Linear(4, 1))
        optimizer = torch.optim.SGD(model.parameters(), lr=3e38)
        for step in range(3):
            loss = (model(torch.randn(4, 3)) * 10).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()  #!
    """,
    "a step that is too large, and nothing after it": """
        model = torch.nn.Linear(3, 1)
        optimizer = torch.optim.SGD(model.parameters(), lr=3e38)
        loss = (model(torch.randn(4, 3)) * 10).mean()
        loss.backward()
        optimizer.step()  #!
    """,
    "a parameter whose own gradient is bad first": """
        class Scaled(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.scale = torch.nn.Parameter(torch.zeros(3))

            def forward(self, x):
                return x * self.scale.sqrt()  #!

        model = Scaled()
        optimizer = torch.optim.Adam(model.parameters())
        for step in range(3):
            loss = model(torch.ones(2, 3)).sum()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    """,
}

GROWN = {
    "a LayerNorm whose variance overflows": ("""
        model = torch.nn.Sequential(
            torch.nn.Linear(8, 32), torch.nn.ReLU(), torch.nn.Linear(32, 8), torch.nn.ReLU(), torch.nn.Linear(8, 8)
        )
        norm = torch.nn.LayerNorm(8, elementwise_affine=False)
        optimizer = torch.optim.SGD(model.parameters(), lr=1000)  #RATE
        for step in range(9):
            x = torch.randn(4, 8)
            h = model(x)
            y = norm(h)  #!
            loss = y.sum() - h.abs().mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    """, "1000"),
    "a rate of the constructor": ("""
        model = torch.nn.Sequential(torch.nn.Linear(8, 32), torch.nn.ReLU(), torch.nn.Linear(32, 8))
        optimizer = torch.optim.SGD(model.parameters(), lr=30)  #RATE
        for step in range(9):
            y = model(torch.randn(4, 8))  #!
            square = y * y  #!
            loss = square.mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    """, "30"),
    "a rate that the program sets in each turn": ("""
        model = torch.nn.Sequential(torch.nn.Linear(8, 32), torch.nn.ReLU(), torch.nn.Linear(32, 8))
        optimizer = torch.optim.SGD(model.parameters(), lr=0.001)
        other = torch.optim.SGD([torch.nn.Parameter(torch.ones(2))], lr=0.5)
        for step in range(9):
            for group in optimizer.param_groups:
                group["lr"] = 20.0 if step > 1 else 0.001  #RATE
            y = model(torch.randn(4, 8))  #!
            square = y * y  #!
            loss = square.mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    """, "20"),
    "a scheduler's rate": ("""
        model = torch.nn.Sequential(torch.nn.Linear(8, 32), torch.nn.ReLU(), torch.nn.Linear(32, 8))
        optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
        scheduler = torch.optim.lr_scheduler.MultiStepLR(optimizer, [2], gamma=3000.0)
        for step in range(9):
            y = model(torch.randn(4, 8))  #!
            square = y * y  #!
            loss = square.mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            scheduler.step()  #RATE
    """, "30"),
}
"""Whose first infinity is on the line marked `#!`, by steps that are too large: with the learning rate, set on
the line marked `#RATE`."""

HELD = {
    "Adam keeps an old infinity": BAD_ROOT + """
        optimizer = torch.optim.Adam(model.parameters())
        kept = {name: value.clone() for name, value in model.state_dict().items()}
        for step in range(5):
            loss = model(ZERO if step == 1 else ONES).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            if step == 1:
                model.load_state_dict(kept)
    """,
    "a norm of NaN spreads to the layers whose gradients are finite": """
        class Two(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.first = torch.nn.Linear(2, 2)
                self.scale = torch.nn.Parameter(torch.zeros(2))

            def forward(self, x):
                y = self.first(x)
                z = y.sum(-1) + self.scale.abs().pow(0.5).sum()  #!
                return z

        model = Two()
        optimizer = torch.optim.SGD(model.first.parameters(), lr=0.1)
        for step in range(3):
            loss = model(torch.ones(2, 2)).mean()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            optimizer.zero_grad()
    """,
    "a schedule that explodes": """
        model = torch.nn.Linear(2, 1)
        optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
        scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: 1e9**step)
        for step in range(5):
            loss = (model(torch.ones(2, 2)) * 3).sum().clamp(-1e3, 1e3) + model.weight.sum() * 1e6
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()  #!
            scheduler.step()
    """,
    "a norm that is given as NaN": NET + """
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        limit = 1.0
        for step in range(3):
            limit = limit * 1.0
            loss = model(ONES).sum()
            optimizer.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), limit * 1e400 * 0)  #!
            optimizer.step()
    """,
    "the second of two optimizers": """
        maker, judge = torch.nn.Linear(2, 2), torch.nn.Linear(2, 1)
        slow = torch.optim.Adam(maker.parameters())
        fast = torch.optim.SGD(judge.parameters(), lr=3e38)
        for step in range(3):
            made = maker(torch.ones(4, 2))
            loss = (judge(made) * 5).mean()
            slow.zero_grad()
            fast.zero_grad()
            loss.backward()
            slow.step()
            fast.step()  #!
    """,
    "a helper that trains": BAD_ROOT + """
        def update(loss, optimizer):
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()

        def train(model, count):
            optimizer = torch.optim.AdamW(model.parameters())
            for step in range(count):
                update(model(ZERO).mean(), optimizer)

        train(model, 3)
    """,
    "gradients that are accumulated over two batches": BAD_ROOT + """
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        for step in range(4):
            loss = model(ZERO if step == 2 else ONES).mean()
            loss.backward()
            if step % 2 == 1:
                optimizer.step()
                optimizer.zero_grad()
        loss = model(ONES).mean()
    """,
    "a weight decay that is no decay": """
        model = torch.nn.Linear(2, 1, bias=False)
        optimizer = torch.optim.SGD(model.parameters(), lr=1.0, weight_decay=1e30)
        for step in range(3):
            loss = torch.tanh(model(torch.ones(2, 2))).sum()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()  #!
    """,
}

BENIGN = {
    "a step that is rolled back": NET + """
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        kept = {name: value.clone() for name, value in model.state_dict().items()}
        for step in range(3):
            loss = model(ONES).mean()
            optimizer.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            model.load_state_dict(kept)
    """,
    "gradients that the program mends": BAD_ROOT.replace("#!", "") + """
        optimizer = torch.optim.Adam(model.parameters())
        for step in range(3):
            loss = model(ZERO if step == 0 else ONES).mean()
            optimizer.zero_grad()
            loss.backward()
            for p in model.parameters():
                p.grad.nan_to_num_(0.0, 0.0, 0.0)
            optimizer.step()
    """,
    "an unused parameter": """
        model = torch.nn.ModuleDict({"used": torch.nn.Linear(2, 1), "unused": torch.nn.Linear(2, 1)})
        optimizer = torch.optim.AdamW(model.parameters(), amsgrad=True)
        for step in range(3):
            loss = model["used"](torch.ones(2, 2)).mean()
            optimizer.zero_grad(set_to_none=False)
            loss.backward()
            torch.nn.utils.clip_grad_value_(model.parameters(), 0.5)
            optimizer.step()
    """,
    "LBFGS, whose step runs the forward": """
        model = torch.nn.Linear(2, 1)
        optimizer = torch.optim.LBFGS(model.parameters(), max_iter=3)

        def closure():
            optimizer.zero_grad()
            loss = (model(torch.ones(2, 2)) - 1).pow(2).mean()
            loss.backward()
            return loss

        for step in range(2):
            loss = optimizer.step(closure)
    """,
}
"""What must give no alarm."""
