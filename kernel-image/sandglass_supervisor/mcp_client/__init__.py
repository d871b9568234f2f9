"""What runs in the session process: the client of one MCP server, with the official SDK."""
