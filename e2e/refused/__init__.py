"""What `e2e/refusals.py` tries, one module for each kind of attack."""
