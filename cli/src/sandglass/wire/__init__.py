"""MCP over Streamable HTTP: messages, events, what may be tried again, and the two clients."""
