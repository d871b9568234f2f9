"""What is tried, and what must come of it."""

import json
from typing import Any, NamedTuple

Json = Any
ABSENT = object()


class Weakness(NamedTuple):
    """A field with a value that it must not have, and the rule's words for it."""

    rule: str
    field: str
    value: Json

    def __str__(self) -> str:
        value = "absent" if self.value is ABSENT else json.dumps(self.value)
        return f"{self.field} {value}"

    def put(self, place: Json) -> None:
        if self.value is ABSENT:
            del place[self.field]
        else:
            place[self.field] = self.value


class Attempt(NamedTuple):
    """What kubectl is told, and the words that it must be refused with; none = the request must be granted."""

    title: str
    arguments: list[str]
    body: Json
    refusal: str
