"""Colour themes as TOML files, and their loader. Knows nothing of what draws them."""
