"""Typed Python functions for the tools of MCP servers: the generator, and the package ``mcptools`` that they call with.

All of this runs with the rights of the code. Names, descriptions and schemas of tools come from a server, and are
hostile.
"""
