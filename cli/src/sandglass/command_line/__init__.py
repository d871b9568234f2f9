"""The commands: options in, text and exit codes out."""
