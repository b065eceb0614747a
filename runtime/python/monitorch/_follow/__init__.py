"""Code that is recorded as it is: where the sites of a source lie in its bytecode."""
