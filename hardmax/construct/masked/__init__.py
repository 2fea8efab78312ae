"""Strategy `masked`: transformers whose tokens see no later ones, (4.2)."""
