"""Programs whose gradients are compared with those of plain hooks: each names values by `keep`."""

PLAIN = {
    "a value used several times": """
        w = torch.randn(4, 3, requires_grad=True)
        h = w * 2
        keep("h", h)
        a = h.sin()
        b = h.exp()
        loss = (a * b + h).sum()
        keep("loss", loss)
        loss.backward()
    """,
    "several outputs of one function": """
        w = torch.randn(4, 6, requires_grad=True)
        h = w * 3
        q, k, v = h.chunk(3, 1)
        keep("q", q)
        keep("k", k)
        keep("v", v)
        loss = (q * k).sum() + (v ** 2).mean()
        loss.backward()
    """,
    "a module called twice": """
        layer = torch.nn.Linear(3, 3)
        x = torch.randn(2, 3)
        first = layer(x)
        keep("first", first)
        second = layer(first.relu())
        keep("second", second)
        second.sum().backward()
    """,
    "in place after the event": """
        w = torch.randn(4, requires_grad=True)
        h = w.exp()
        keep("h", h)
        g = h + 1
        keep("g", g)
        g.mul_(3)
        keep("g", g)
        g[0] = 0
        keep("g", g)
        (g ** 2).sum().backward()
    """,
    "views of a written base": """
        w = torch.randn(4, 2, requires_grad=True)
        base = w * 1
        view = base[1:3]
        keep("view", view)
        base.mul_(2)
        other = view.sum() + base[0].sum()
        keep("other", other)
        other.backward()
    """,
    "a graph that is kept": """
        w = torch.randn(3, requires_grad=True)
        h = w.tanh()
        keep("h", h)
        loss = (h * h).sum()
        loss.backward(retain_graph=True)
        loss.backward()
    """,
    "double backward": """
        w = torch.randn(3, requires_grad=True)
        h = w ** 3
        keep("h", h)
        loss = h.sum()
        grad, = torch.autograd.grad(loss, w, create_graph=True)
        penalty = (grad ** 2).sum()
        keep("penalty", penalty)
        penalty.backward()
    """,
    "autograd.grad": """
        w = torch.randn(3, requires_grad=True)
        h = w.sin()
        keep("h", h)
        g = h * 2
        keep("g", g)
        torch.autograd.grad(g.sum(), w)
    """,
    "checkpoint, by saved tensors": """
        from torch.utils.checkpoint import checkpoint

        def block(x):
            inner = x.sin()
            return inner * 2

        w = torch.randn(3, requires_grad=True)
        h = checkpoint(block, w, use_reentrant=False)
        keep("h", h)
        h.sum().backward()
    """,
    "checkpoint, reentrant": """
        from torch.utils.checkpoint import checkpoint

        def block(x):
            inner = x.sin()
            keep("inner", inner)
            outer = inner * 2
            keep("outer", outer)
            return outer

        w = torch.randn(3, requires_grad=True)
        h = checkpoint(block, w, use_reentrant=True)
        keep("h", h)
        h.sum().backward()
    """,
    "a function of the program's": """
        class Double(torch.autograd.Function):
            @staticmethod
            def forward(ctx, x):
                return x * 2

            @staticmethod
            def backward(ctx, gradient):
                return gradient * 2

        w = torch.randn(3, requires_grad=True)
        h = Double.apply(w.cos())
        keep("h", h)
        (h ** 2).sum().backward()
    """,
    "hooks of the program": """
        w = torch.randn(3, requires_grad=True)
        h = w.sin()
        h.register_hook(lambda gradient: gradient * 10)
        keep("h", h)
        (h * 2).sum().backward()
    """,
    "regions without gradients": """
        w = torch.randn(3, requires_grad=True)
        with torch.no_grad():
            c = w * 2
        with torch.inference_mode():
            d = w * 2
        h = w * c
        keep("h", h)
        h.sum().backward()
    """,
    "autocast": """
        layer = torch.nn.Linear(4, 4)
        with torch.autocast("cpu", dtype=torch.bfloat16):
            h = layer(torch.randn(2, 4))
            keep("h", h)
            loss = h.float().sum()
            keep("loss", loss)
        loss.backward()
    """,
    "a leaf, accumulated twice": """
        w = torch.randn(3, requires_grad=True)
        (w * 2).sum().backward()
        h = w.exp()
        keep("h", h)
        h.sum().backward()
    """,
    "an exception in backward": """
        class Fails(torch.autograd.Function):
            @staticmethod
            def forward(ctx, x):
                return x * 2

            @staticmethod
            def backward(ctx, gradient):
                raise ValueError("no")

        w = torch.randn(3, requires_grad=True)
        h = Fails.apply(w.cos())
        g = h.sin()
        keep("g", g)
        try:
            g.sum().backward()
        except ValueError as error:
            print(error)
    """,
}
"""By what they show; each is the body of a function, behind torch.manual_seed(0)."""
