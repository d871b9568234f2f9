"""Tests of MCP servers of this machine: which there are, which fit, and their start."""
