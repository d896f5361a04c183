"""What the next request holds, and why: chosen from memory so that it fits the model's window."""
