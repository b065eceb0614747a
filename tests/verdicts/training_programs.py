"""Trainings whose loss, gradients or weights become NaN or infinite, of kinds that backward_programs and
step_programs lack; the line that did it is marked `#!`.

HELD are those that were written down before they were first run.
"""

BROKEN = {
    "softmax of rows that are masked everywhere": """
        x = torch.randn(3, 4, requires_grad=True)
        seen = torch.tensor([[True, True, False], [False, False, False], [True, True, True]])
        scores = (x @ x.T).masked_fill(~seen, -torch.inf)
        weights = scores.softmax(-1)  #!
        loss = (weights @ x).pow(2).mean()
        loss.backward()
    """,
    "the deviation of one element": """
        x = torch.randn(4, 1, requires_grad=True)
        h = x * 2
        deviation = h.std(-1)  #!
        loss = (h[:, 0] / (deviation + 1e-5)).mean()
        loss.backward()
    """,
    "exp that overflows": """
        x = torch.tensor([1.0, 100.0], requires_grad=True)
        h = x * 1
        e = torch.exp(h)  #!
        p = e / (1 + e)
        p.sum().backward()
    """,
    "exp that overflows, in a result that stays finite": """
        x = torch.tensor([1.0, -100.0], requires_grad=True)
        h = x * 1
        e = torch.exp(-h)  #!
        p = 1 / (1 + e)
        loss = p.sum()
        loss.backward()
    """,
    "batch norm of one row": """
        layer = torch.nn.Linear(3, 4)
        x = torch.randn(1, 3)
        h = layer(x)
        mean, deviation = h.mean(0), h.std(0)  #!
        y = (h - mean) / (deviation + 1e-5)
        loss = y.pow(2).mean()
        loss.backward()
    """,
    "a loss whose targets are all ignored": """
        head = torch.nn.Linear(4, 3)
        x = torch.randn(2, 4)
        logits = head(x)
        target = torch.full((2,), -100)
        loss = torch.nn.functional.cross_entropy(logits, target)  #!
        loss.backward()
    """,
    "checkpoint, reentrant": """
        from torch.utils.checkpoint import checkpoint

        def block(x):
            squared = x * x
            return squared.sqrt()  #!

        x = torch.zeros(3, requires_grad=True)
        h = checkpoint(block, x, use_reentrant=True)
        h.sum().backward()
    """,
    "a GradScaler that skips every step": """
        model = torch.nn.Linear(2, 2, bias=False)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        scaler = torch.amp.GradScaler("cpu", init_scale=2.0**10)
        x = torch.tensor([[0.0, 0.0], [1.0, 1.0]])
        for step in range(4):
            h = model(x)
            square = h.pow(2).sum(-1)
            loss = square.sqrt().mean()  #!
            optimizer.zero_grad()
            scaler.scale(loss).backward()
            scaler.step(optimizer)
            scaler.update()
    """,
    "a GradScaler whose forward overflows": """
        model = torch.nn.Linear(4, 4, bias=False)
        with torch.no_grad():
            model.weight.fill_(100.0)
        optimizer = torch.optim.SGD(model.parameters(), lr=1e-4)
        scaler = torch.amp.GradScaler("cpu", init_scale=2.0**10)
        for step in range(3):
            with torch.autocast("cpu", dtype=torch.float16):
                h = model(torch.ones(2, 4) * 100)
                y = model(h)  #!
                loss = y.float().mean()
            optimizer.zero_grad()
            scaler.scale(loss).backward()
            scaler.step(optimizer)
            scaler.update()
    """,
    "0 times the log of 0": """
        logits = torch.tensor([[0.0, -200.0]], requires_grad=True)
        p = logits.softmax(-1)
        surprise = p.log()  #!
        entropy = -(p * surprise).sum()
        entropy.backward()
    """,
    "a unit vector of a zero": """
        x = torch.zeros(2, 3, requires_grad=True)
        h = x * 2
        length = h.norm(dim=-1, keepdim=True)
        unit = h / length  #!
        unit.sum().backward()
    """,
    "the mean of nothing": """
        x = torch.randn(4, requires_grad=True)
        chosen = x[x > 100]
        loss = chosen.mean()  #!
        loss.backward()
    """,
    "eigenvectors of equal eigenvalues": """
        x = torch.eye(3, requires_grad=True)
        h = x + x.T
        values, vectors = torch.linalg.eigh(h)  #!
        loss = vectors.abs().sum()
        loss.backward()
    """,
    "a penalty on a gradient that is 0": """
        x = torch.zeros(2, 3, requires_grad=True)
        score = (x * x).sum()
        slope, = torch.autograd.grad(score, x, create_graph=True)
        square = slope.pow(2).sum(-1)
        length = square.sqrt()  #!
        penalty = (length - 1).pow(2).mean()
        penalty.backward()
    """,
    "Adam with an eps of 0": """
        model = torch.nn.Linear(2, 2)
        optimizer = torch.optim.Adam(model.parameters(), eps=0.0)
        for step in range(3):
            loss = model(torch.ones(1, 2))[:, 0].sum()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()  #!
    """,
    "gradients that the program divides by their norm": """
        model = torch.nn.Linear(2, 2)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        for step in range(2):
            loss = (model(torch.ones(1, 2)) * step).sum()
            optimizer.zero_grad()
            loss.backward()
            for p in model.parameters():
                norm = p.grad.norm()
                p.grad.div_(norm)  #!
            optimizer.step()
    """,
    "an update by hand": """
        w = torch.randn(3, requires_grad=True)
        for step in range(3):
            loss = (w * 10).tanh().sum() + w.sum()
            loss.backward()
            with torch.no_grad():
                w -= 3e38 * w.grad * 2  #!
                w.grad = None
    """,
    "two processes, of which one has a bad row": """
        import os, sys
        import torch.distributed as dist
        from torch.nn.parallel import DistributedDataParallel

        class Net(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.proj = torch.nn.Linear(2, 2, bias=False)

            def forward(self, x):
                a = self.proj(x)
                square = (a * a).sum(-1)
                return square.sqrt()  #!

        rank = 0 if os.fork() else 1
        dist.init_process_group("gloo", init_method=f"file://{os.getcwd()}/meeting", rank=rank, world_size=2)
        model = DistributedDataParallel(Net())
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        x = torch.ones(2, 2) * (1 - rank)
        for step in range(2):
            loss = model(x).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        dist.barrier()
        dist.destroy_process_group()
        if rank == 0:
            os.wait()
        else:
            sys.stdout.flush()
            os._exit(0)
    """,
}

HELD = {
    "a temperature that a step makes 0": """
        class Head(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.proj = torch.nn.Linear(3, 3)
                self.temperature = torch.nn.Parameter(torch.tensor(1.0))

            def forward(self, x):
                h = self.proj(x)
                return h / self.temperature  #!

        head = Head()
        optimizer = torch.optim.SGD([head.temperature], lr=1.0)
        for step in range(3):
            logits = head(torch.ones(2, 3))
            loss = head.temperature + 0 * logits.detach().sum()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    """,
    "a likelihood whose deviation a step makes negative": """
        class Normal(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.mean = torch.nn.Parameter(torch.zeros(()))
                self.sigma = torch.nn.Parameter(torch.tensor(0.1))

            def forward(self, x):
                distance = (x - self.mean) / self.sigma
                likelihood = distance.pow(2) / 2 + self.sigma.log()  #!
                return likelihood.mean()

        model = Normal()
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        x = torch.tensor([0.01, -0.01])
        for step in range(4):
            loss = model(x)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    """,
    "the mean of a sequence without tokens": """
        class Pool(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.embed = torch.nn.Embedding(5, 4)

            def forward(self, tokens):
                seen = (tokens != 0).float()
                h = self.embed(tokens) * seen[..., None]
                pooled = h.sum(1) / seen.sum(1, keepdim=True)  #!
                return pooled

        model = Pool()
        optimizer = torch.optim.AdamW(model.parameters())
        for tokens in ([[1, 2, 3]], [[4, 0, 0]], [[0, 0, 0]], [[1, 1, 1]]):
            loss = model(torch.tensor(tokens)).pow(2).sum()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    """,
    "a policy whose action saturates": """
        policy = torch.nn.Linear(2, 2)
        with torch.no_grad():
            policy.bias.fill_(30.0)
        noise = torch.randn(4, 2)
        raw = policy(torch.ones(4, 2)) + noise
        action = torch.tanh(raw)
        correction = torch.log(1 - action.pow(2)).sum(-1)  #!
        loss = (-noise.pow(2).sum(-1) / 2 - correction).mean()
        loss.backward()
    """,
    "an average of weights that is corrected before its first turn": """
        model = torch.nn.Linear(3, 1)
        average = torch.zeros(1, 3)
        for step in range(3):
            with torch.no_grad():
                unbiased = average / (1 - 0.9 ** step)  #!
                average = average * 0.9 + model.weight * 0.1
            loss = (model(torch.ones(2, 3)) + unbiased.sum()).mean()
            loss.backward()
    """,
    "a loss of two branches, of which the root is not taken": """
        model = torch.nn.Linear(2, 1, bias=False)
        optimizer = torch.optim.Adam(model.parameters())
        x = torch.tensor([[1.0, 2.0], [0.0, 0.0]])
        target = torch.tensor([[0.5], [0.0]])
        for step in range(2):
            error = model(x) - target
            size = error.abs()
            losses = torch.where(size < 1, error.pow(2), 2 * size.sqrt() - 1)  #!
            loss = losses.mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    """,
    "a penalty on the norm of weights that begin at 0": """
        class Net(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.first = torch.nn.Linear(3, 4)
                self.last = torch.nn.Linear(4, 1)
                torch.nn.init.zeros_(self.last.weight)

            def forward(self, x):
                return self.last(self.first(x).relu())

        net = Net()
        optimizer = torch.optim.AdamW(net.parameters(), lr=0.01)
        for step in range(3):
            fit = (net(torch.randn(4, 3)) - 1).pow(2).mean()
            penalty = net.last.weight.pow(2).sum().sqrt()  #!
            loss = fit + 0.1 * penalty
            optimizer.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)
            optimizer.step()
    """,
    "a bad batch after a checkpoint, with momentum": """
        from torch.utils.checkpoint import checkpoint

        class Block(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.proj = torch.nn.Linear(3, 3, bias=False)

            def unit(self, x):
                a = self.proj(x)
                scale = a.pow(2).sum(-1, keepdim=True).rsqrt().clamp(max=1e6)  #!
                return a * scale

            def forward(self, x):
                return checkpoint(self.unit, x, use_reentrant=False)

        block = Block()
        optimizer = torch.optim.SGD(block.parameters(), lr=0.1, momentum=0.9)
        for step in range(4):
            x = torch.randn(2, 3) * (step != 2)
            loss = block(x).sum()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    """,
}

OPEN = {
    "running figures of a batch norm of one row": """
        running_mean, running_var = torch.zeros(4), torch.ones(4)
        x = torch.randn(1, 4, requires_grad=True)
        h = x * 2
        y = torch.batch_norm(h, None, None, running_mean, running_var, True, 0.1, 1e-5, False)  #!
        loss = y.sum()
        loss.backward()
        z = torch.batch_norm(h, None, None, running_mean, running_var, False, 0.1, 1e-5, False)
    """,
}
"""The line is not named: a function whose result is used wrote to a value that has only a local name."""

BENIGN = {
    "rows that are masked everywhere, and mended before the softmax": """
        x = torch.randn(3, 4, requires_grad=True)
        seen = torch.tensor([[True, True, False], [False, False, False], [True, True, True]])
        empty = ~seen.any(-1, keepdim=True)
        scores = (x @ x.T).masked_fill(~seen & ~empty, -torch.inf)
        weights = scores.softmax(-1).masked_fill(empty, 0.0)
        loss = (weights @ x).pow(2).mean()
        loss.backward()
    """,
    "the deviation of one element, without correction, and an eps": """
        x = torch.randn(4, 1, requires_grad=True)
        h = x * 2
        deviation = (h.var(-1, correction=0) + 1e-5).sqrt()
        loss = (h[:, 0] / deviation).mean()
        loss.backward()
    """,
    "a batch norm that is evaluated with one row": """
        model = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.BatchNorm1d(4))
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        for step in range(3):
            loss = model(torch.randn(5, 3)).pow(2).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        model.eval()
        y = model(torch.randn(1, 3))
    """,
    "a batch whose targets are all ignored, and whose loss is a sum": """
        head = torch.nn.Linear(4, 3)
        logits = head(torch.randn(2, 4))
        target = torch.full((2,), -100)
        loss = torch.nn.functional.cross_entropy(logits, target, reduction="sum") / 1
        loss.backward()
    """,
    "a reentrant checkpoint of a root with an eps": """
        from torch.utils.checkpoint import checkpoint

        def block(x):
            squared = x * x
            return (squared + 1e-8).sqrt()

        x = torch.zeros(3, requires_grad=True)
        h = checkpoint(block, x, use_reentrant=True)
        h.sum().backward()
    """,
    "a GradScaler whose first steps overflow in float16": """
        model = torch.nn.Linear(4, 1)
        optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
        scaler = torch.amp.GradScaler("cpu", init_scale=2.0**20)
        for step in range(10):
            with torch.autocast("cpu", dtype=torch.float16):
                loss = (model(torch.ones(8, 4)) - 1).pow(2).mean()
            optimizer.zero_grad()
            scaler.scale(loss).backward()
            scaler.unscale_(optimizer)
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            scaler.step(optimizer)
            scaler.update()
    """,
    "scores that begin at -Inf, and the best of them": """
        logits = torch.randn(3, 5, requires_grad=True)
        best = torch.full((3,), -torch.inf)
        for column in range(5):
            best = torch.maximum(best, logits[:, column])
        best.sum().backward()
    """,
    "a nucleus of the likeliest tokens": """
        logits = torch.randn(2, 6, requires_grad=True)
        kept = torch.topk(logits, 3).values[:, -1:]
        filtered = logits.masked_fill(logits < kept, -torch.inf)
        loss = -filtered.log_softmax(-1).amax(-1).mean()
        loss.backward()
    """,
    "an entropy by xlogy, where a probability is 0": """
        p = torch.tensor([1.0, 0.0])
        weight = torch.ones(2, requires_grad=True)
        entropy = -(torch.special.xlogy(p, p) * weight).sum()
        entropy.backward()
    """,
    "an RNN over 50 steps": """
        rnn = torch.nn.RNN(2, 2)
        x = torch.randn(50, 1, 2, requires_grad=True)
        out, last = rnn(x)
        out[-1].sum().backward()
    """,
    "an embedding whose padding row gets no gradient": """
        table = torch.nn.Embedding(4, 3, padding_idx=0, sparse=True)
        optimizer = torch.optim.SGD(table.parameters(), lr=0.1, momentum=0.0)
        for step in range(2):
            loss = table(torch.tensor([0, 0, 2])).pow(2).sum()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    """,
    "momentum that is forgotten with the weights": """
        model = torch.nn.Linear(2, 2)
        kept = {name: value.clone() for name, value in model.state_dict().items()}
        for turn in range(2):
            optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
            loss = model(torch.ones(2, 2)).sum()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            model.load_state_dict(kept)
    """,
    "two processes that are right": """
        import os, sys
        import torch.distributed as dist
        from torch.nn.parallel import DistributedDataParallel

        rank = 0 if os.fork() else 1
        dist.init_process_group("gloo", init_method=f"file://{os.getcwd()}/meeting", rank=rank, world_size=2)
        model = DistributedDataParallel(torch.nn.Linear(2, 2))
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        for step in range(2):
            loss = model(torch.ones(2, 2) * rank).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        dist.barrier()
        dist.destroy_process_group()
        if rank == 0:
            os.wait()
        else:
            sys.stdout.flush()
            os._exit(0)
    """,
    "an update by hand": """
        w = torch.randn(3, requires_grad=True)
        for step in range(3):
            loss = (w * 10).tanh().sum()
            loss.backward()
            with torch.no_grad():
                w -= 0.1 * w.grad
                w.grad = None
    """,
    "a penalty on a gradient, with an eps": """
        x = torch.zeros(2, 3, requires_grad=True)
        score = (x * x).sum()
        slope, = torch.autograd.grad(score, x, create_graph=True)
        length = (slope.pow(2).sum(-1) + 1e-12).sqrt()
        penalty = (length - 1).pow(2).mean()
        penalty.backward()
    """,
}
"""What must give no alarm."""
