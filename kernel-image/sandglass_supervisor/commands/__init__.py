"""Commands and installations: programs that run as they are, and their output."""
