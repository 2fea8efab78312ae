"""The paper's stages: preprocess, separate, cluster, match labels, classify (Section 3)."""
