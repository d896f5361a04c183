"""Modal dialogs and full-screen views."""
