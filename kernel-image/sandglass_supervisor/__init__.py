"""The supervisor of a Sandglass sandbox: owns kernels, commands and their output, and speaks the link."""

__version__ = "0.1.0"
