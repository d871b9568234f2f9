"""What a sandbox does for a caller, as steps without I/O: both kinds of client walk them."""
