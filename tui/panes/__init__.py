"""Panes of the main screen, one each for a part of the view."""
