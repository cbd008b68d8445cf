"""Measurements of the running product, each a ratio or a figure beside its n, taken in one run on one machine."""
