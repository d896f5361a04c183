"""Colours as data: TOML files and the reader of them."""
