"""DP-SGD in JAX: models, data, sampling, clipping, noise and the scanned trial."""
