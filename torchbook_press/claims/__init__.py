"""Which sentences of the book claim something, what holds them, and whether that could fail."""
