"""`sandglass mcp`: a server on standard input and output for agents, which passes each message to the endpoint."""
