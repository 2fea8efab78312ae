"""Steps that several strategies take: tie splitting, the collapse, single moves."""
