"""What may be shown on a terminal, and how: text of sandboxes, pictures, tables."""
