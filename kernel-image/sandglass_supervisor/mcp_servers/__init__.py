"""MCP servers in this pod: started for a caller, called by code through a socket, ended with the sandbox."""
