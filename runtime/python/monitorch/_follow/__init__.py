"""Recording of code that was not instrumented, by the positions of its sites in the bytecode."""
