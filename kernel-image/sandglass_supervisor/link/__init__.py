"""The link to the gateways: frames, the socket with CURVE, the verbs and their arguments."""
