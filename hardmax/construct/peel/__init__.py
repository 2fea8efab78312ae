"""Strategy `peel`: collapse, then move the outermost point to its target, one block each."""
