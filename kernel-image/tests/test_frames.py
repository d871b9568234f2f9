"""The link's frames against the recorded ones: ours for the gateway's tests, the gateway's as it writes them."""

import json
from typing import Any

import pytest
import recorded
from recorded import Recorded

from sandglass_supervisor.link import arguments, wire
from sandglass_supervisor.link.wire import Credit, Malformed, Problem, Request, Returned
from sandglass_supervisor.mcp_servers.definition import parse_name, parse_registration
from sandglass_supervisor.mcp_servers.served_calls import parse_call, parse_call_id, parse_server
from sandglass_supervisor.seat import parse_configuration

VERBS = set(
    "hello configure execute command install attach detach interrupt list metrics files reset close"
    " mcp_register mcp_list mcp_remove mcp_tools mcp_functions mcp_call mcp_cancel".split()
)
_OF_SECRETS = ("secret_env", "secret_headers")
FROM_GATEWAY = recorded.load(recorded.FROM_GATEWAY)


def test_what_we_say_is_recorded() -> None:
    now = recorded.dump(recorded.from_supervisor())
    assert recorded.FROM_SUPERVISOR.read_text(encoding="utf-8") == now, "if the change is meant, run: make generate"


def test_every_verb_and_operation_is_recorded() -> None:
    means = [entry.means for entry in FROM_GATEWAY]
    assert {said.get("verb") for said in means} - {None} == VERBS
    assert {said["operation"] for said in means if said.get("verb") == "files"} == set(arguments.FILE_OPERATIONS)
    credited = {said["execution_id"] == wire.FILES for said in means if said["message"] == "credit"}
    assert credited == {True, False}


@pytest.mark.parametrize("entry", FROM_GATEWAY, ids=lambda entry: entry.name)
def test_what_the_gateway_says_is_understood(entry: Recorded) -> None:
    assert meaning(entry.frames) == entry.means


def test_recorded_frames_are_what_they_are_shown_as() -> None:
    for frame in (b"", b"text", "é".encode(), b"\xff", b"hex:", b"hex:00", bytes(range(256))):
        assert recorded.to_frame(recorded.to_text(frame)) == frame


def meaning(frames: list[bytes]) -> dict[str, Any]:
    """What the supervisor makes of a message, in JSON."""
    message = wire.decode(frames)
    match message:
        case Credit():
            return {"message": "credit", **message._asdict()}
        case Request():
            about = {"message": "request", "request_id": message.request_id.decode(), "verb": message.verb}
            return {**about, **_arguments(message)}
        case Returned(call_id, Problem() as problem, _):
            said: dict[str, Any] = {"message": "problem", "call_id": call_id.decode()}
            return {**said, "code": problem.code, "text": str(problem)}
        case Returned():
            whole: dict[str, Any] = {"message": "returned", "call_id": message.call_id.decode()}
            return {**whole, "json": message.value, "blob": recorded.to_text(message.blob)}
        case Malformed():
            return {"message": "malformed", "reason": message.reason}


def _arguments(request: Request) -> dict[str, Any]:
    match request.verb:
        case "execute":
            run = arguments.parse_execute(request)
            return {**run._asdict(), "servers": list(run.servers)}
        case "command":
            said = arguments.parse_command(request, "/workspace")._asdict()
            return {**said, "stdin": recorded.to_text(request.blob)}
        case "install":
            return arguments.parse_install(request)._asdict()
        case "configure":
            return parse_configuration(request.arguments)._asdict()
        case "files":
            asked = arguments.parse_files(request)._asdict()
            return {**asked, "content": recorded.to_text(request.blob)}
    return _of_servers(request)


def _of_servers(request: Request) -> dict[str, Any]:
    match request.verb:
        case "mcp_register":
            server = parse_registration(request.arguments, "/workspace")
            more = {name: value for name, value in server._asdict().items() if name in ("api", "revision")}
            target = {
                field: {name: entry._asdict() for name, entry in value.items()} if field in _OF_SECRETS else value
                for field, value in server.target._asdict().items()
                if value or field not in _OF_SECRETS
            }
            return {
                "name": server.name,
                "target": json.loads(json.dumps(target)),
                "timeout_s": server.timeout_s,
                **{name: value for name, value in more.items() if name in request.arguments},
            }
        case "mcp_call":
            call_id, call = parse_call(request)
            return {"call_id": call_id, **call._asdict()}
        case "mcp_tools":
            return {"server": parse_server(request.arguments)}
        case "mcp_cancel":
            return {"call_id": parse_call_id(request.arguments)}
        case "mcp_remove":
            return {"name": parse_name(request.arguments)}
        case "mcp_functions":
            return {"name": parse_name(request.arguments), "tools": json.loads(request.blob)["tools"]}
    return _names(request.verb, request.arguments)


def _names(verb: str, given: dict[str, Any]) -> dict[str, Any]:
    match verb:
        case "attach":
            return {"execution_id": arguments.parse_execution_id(given), "offset": arguments.parse_offset(given)}
        case "detach" | "interrupt" if "execution_id" in given:
            return {"execution_id": arguments.parse_execution_id(given)}
        case "interrupt" | "reset" | "close":
            language, session = arguments.parse_kernel(given)
            return {"language": language, "session": session}
        case "hello":
            return {"protocol": given["protocol"], "peer": given["peer"], "file_credit": given["file_credit"]} | (
                {"calls": sorted(arguments.parse_call_kinds(given))} if "calls" in given else {}
            )
        case "list" | "metrics" | "mcp_list":
            return {}
    raise Problem("unknown_verb", verb)
