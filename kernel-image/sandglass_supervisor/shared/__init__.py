"""What the supervisor and the code inside a kernel both use. It is pure, and imports nothing of either side."""
