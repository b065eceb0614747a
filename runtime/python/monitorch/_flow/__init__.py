"""Flow pictures: `monitorch.on`, `off`, `watch`, `run` and their settings."""
