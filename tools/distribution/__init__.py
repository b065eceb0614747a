"""What pip and its like call to build wheel and sdist; pyproject.toml names it. Needs nothing but Python."""
