"""Experiments around the Transducer: generators, meta-training, baselines, claims."""
