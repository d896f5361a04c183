"""What the model can call, one module a tool."""
