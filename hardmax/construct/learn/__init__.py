"""Strategy `learn`: features of tokens before the collapse, a linear read-out behind it."""
