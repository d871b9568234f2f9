"""How many bytes may wait, of all connections and servers together: code decides how much it asks and reads (pure)."""


class Budget:
    """A number of bytes of which some are taken."""

    def __init__(self, most: int) -> None:
        self._most = most
        self.taken = 0

    def take(self, size: int) -> bool:
        """Take so many, or none if there are not as many left."""
        if not self.has_room(size):
            return False
        self.taken += size
        return True

    def has_room(self, size: int) -> bool:
        """True if as many are left."""
        return self.taken + size <= self._most

    def give_back(self, size: int) -> None:
        """Give back what was taken."""
        self.taken -= size
