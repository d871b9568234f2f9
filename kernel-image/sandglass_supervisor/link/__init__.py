"""The link to the gateways: frames, the socket with CURVE, the arguments of verbs, calls to gateways."""
