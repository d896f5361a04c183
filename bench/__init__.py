"""Figures the app is held to, measured on real parts: `python -m bench`."""
