"""The agent itself: knows no screen, no tool, no container, no browser."""
