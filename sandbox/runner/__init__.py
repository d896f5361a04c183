"""The program that runs inside a sandbox and does there what the host asks.

Its modules are sent over stdin by `sandbox.bundle`, so that nothing is written into the sandbox. Therefore: only the
standard library, only syntax of Python 3.7, and no import of anything but these modules and `core.dir_walk`.
"""
