"""What `e2e/bench` measures, one module each."""
