"""All that draws and all that starts: the screen, the command line, and the wiring of the real parts."""
