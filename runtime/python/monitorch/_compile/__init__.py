"""Instrumented code: the import hook, single functions, torch.compile, the cache."""
