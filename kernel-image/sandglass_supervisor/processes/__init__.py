"""Child processes: limits and the system call filter they get, what they start, what they leave behind."""
