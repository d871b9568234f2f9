"""Values of the code that no reader of its outcome may stumble over, with a real kernel."""

from client import Client


def test_a_huge_execution_count_does_not_cost_the_outcome(client: Client, name: str) -> None:
    try:
        huge = client.run(name, "get_ipython().execution_count = 10 ** 2000")
        after = client.run(name + "-2", "1 + 1")
        assert huge.outcome is not None
        assert after.outcome is not None
        assert (huge.outcome["status"], after.outcome["status"]) == ("ok", "ok")
        # The gateway reads no number of a thousand digits: it would drop the outcome and wait.
        assert after.outcome["execution_count"] is None
    finally:
        client.run(name + "-3", "get_ipython().execution_count = 1")


def test_half_a_character_in_an_exception(client: Client, name: str) -> None:
    found = client.run(name, "raise ValueError('a\\ud800b')", timeout=10)
    assert found.outcome is not None
    assert found.outcome["status"] == "error"
    assert found.only("error").json["name"] == "ValueError"
    assert found.only("error").json["message"] == "a\ud800b"  # the gateway mends it, as it must for any supervisor


def test_half_a_character_in_what_is_displayed(client: Client, name: str) -> None:
    found = client.run(name, "display({'text/plain': 'a\\ud800b'}, raw=True)", timeout=10)
    assert found.outcome is not None
    assert found.outcome["status"] == "ok"
    assert found.only("display").blob == b"a?b"
