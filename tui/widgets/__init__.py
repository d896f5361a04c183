"""Things that draw: reusable widgets without knowledge of the session."""
