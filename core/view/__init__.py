"""What each pane shows, reduced from the log."""
