"""Runs the project's tests by tiers: what each step is, what it prints, which sixth of the rest a run takes."""
