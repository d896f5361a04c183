"""Reading shell text: strictly, to let through what only reads; loosely, to see what might do harm."""
