"""Files of the sandbox for callers, walked by the operating system so that no path leaves the workspace."""
