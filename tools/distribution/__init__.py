"""The build backend that pyproject.toml names: pip and other tools call it for wheel and sdist.
Needs only Python."""
