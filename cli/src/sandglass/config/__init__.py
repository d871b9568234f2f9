"""Which endpoint is used, and with which key: flags, environment and the configuration file."""
