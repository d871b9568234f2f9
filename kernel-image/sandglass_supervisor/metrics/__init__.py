"""What the sandbox uses."""
