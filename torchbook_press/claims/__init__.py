"""Which sentences of the book claim something, and what holds them."""
