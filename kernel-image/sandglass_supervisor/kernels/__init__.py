"""Kernels as the supervisor sees them: queue, runs, time-outs, processes and sockets. Nothing here runs user code."""
