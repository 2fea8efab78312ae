"""The architecture of the paper's Section 2.2: layers, blocks, transformers, exact runs."""
