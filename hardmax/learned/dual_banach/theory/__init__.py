"""The paper on pairs of Banach spaces, as functions: duality maps, features, kernels."""
