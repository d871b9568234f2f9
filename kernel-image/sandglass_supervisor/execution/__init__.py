"""Executions: their journal, their readers and how they ended."""
