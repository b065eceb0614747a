"""Recording: its start and end, its options, and the facts about the program that it writes."""
