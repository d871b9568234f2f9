"""What the operator sets for the egress proxy reaches the code."""

import pytest

from sandglass_supervisor.settings import take

KEYS = {"SANDGLASS_LINK_SECRET_KEY": "s" * 40, "SANDGLASS_GATEWAY_PUBLIC_KEY": "g" * 40}


@pytest.mark.parametrize(
    "name",
    [
        *("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "all_proxy", "no_proxy"),
        *("PIP_PROXY", "npm_config_proxy", "npm_config_https_proxy", "NODE_USE_ENV_PROXY"),
    ],
)
def test_the_way_to_the_egress_proxy_is_passed_on(name: str) -> None:
    assert take({**KEYS, name: "http://192.0.2.1:3128"}).code_env[name] == "http://192.0.2.1:3128"
