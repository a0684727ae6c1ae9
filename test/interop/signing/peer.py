"""The official Python SDK as a peer: one JSON question a line on stdin, one JSON answer a line on stdout."""

import asyncio
import json
import socket
import sys
import time
from importlib.metadata import version

# What discovery imports when it is first needed takes longer than its deadline on a slow machine.
import adcp.protocols.a2a  # noqa: F401
import adcp.protocols.mcp  # noqa: F401
from adcp.signing import (
    SignatureVerificationError,
    StaticJwksResolver,
    VerifierCapability,
    VerifyOptions,
    alg_for_jwk,
    private_key_from_jwk,
    sign_request,
    verify_request_signature,
)
from adcp.signing.webhook_signer import sign_webhook
from adcp.signing.webhook_verifier import (
    WebhookVerifyOptions,
    verify_webhook_from_agent_url,
    verify_webhook_signature,
)

# The seller's name is in a domain, since a brand file binds domains, and no name service knows it: it is this machine.
SELLER = "seller.example.net"
look_up = socket.getaddrinfo
socket.getaddrinfo = lambda host, *more, **named: look_up("127.0.0.1" if host == SELLER else host, *more, **named)


def request_of(question):
    request = question["request"]
    return {
        "method": request["method"],
        "url": request["url"],
        "headers": request["headers"],
        "body": request["body"].encode("utf-8"),
    }


def sign(question):
    key = question["key"]
    given = {
        "private_key": private_key_from_jwk(key),
        "key_id": key["kid"],
        "alg": alg_for_jwk(key),
        **request_of(question),
    }
    if question["what"] == "webhook":
        signed = sign_webhook(**given)
    else:
        profile = question["what"].removeprefix("request ")
        signed = sign_request(**given, cover_content_digest=True, signing_profile_version=profile)
    return {"ok": True, "headers": {**question["request"]["headers"], **signed.as_dict()}}


def verify(question):
    keys = StaticJwksResolver({"keys": [question["key"]]})
    if question["what"] == "webhook":
        verify_webhook_signature(**request_of(question), options=WebhookVerifyOptions(jwks_resolver=keys))
        return {"ok": True}
    profile = question["what"].removeprefix("request ")
    digest = "required" if profile == "3.2" else "either"
    options = VerifyOptions(
        now=time.time(),
        capability=VerifierCapability(supported=True, covers_content_digest=digest),
        operation="create_media_buy",
        jwks_resolver=keys,
        signing_profile_version=profile,
    )
    verify_request_signature(**request_of(question), options=options)
    return {"ok": True}


def discover(question):
    """Keys are found from the agent's URL alone; private destinations are allowed and nothing else is changed."""
    asyncio.run(
        verify_webhook_from_agent_url(
            **request_of(question),
            agent_url=question["agent"],
            protocol=question["protocol"],
            allow_private_destinations=True,
        )
    )
    return {"ok": True}


def causes(error):
    seen = []
    while error is not None:
        seen.append(str(getattr(error, "code", "")) + " " + str(error))
        error = error.__cause__
    return " <- ".join(seen).strip()


actions = {"sign": sign, "verify": verify, "discover": discover}
print(json.dumps({"name": f"adcp {version('adcp')}"}), flush=True)
for line in sys.stdin:
    question = json.loads(line)
    try:
        answer = actions[question["do"]](question)
    except SignatureVerificationError as error:
        answer = {"ok": False, "reason": causes(error)}
    except Exception as error:  # a URL that it cannot take is an answer too
        answer = {"ok": False, "reason": f"{type(error).__name__}: {causes(error)}"}
    print(json.dumps(answer), flush=True)
