"""Strategy `cover`: depth that follows the labels, by half-spaces, tents and shells."""
