"""Open label sets: half-spaces and tents move points straight into the sets."""
