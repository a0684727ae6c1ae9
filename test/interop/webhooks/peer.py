"""The official Python SDK as sender and receiver of webhooks: one JSON question a line, one JSON answer a line."""

import asyncio
import importlib
import json
import sys
from importlib.metadata import version

import httpx
from adcp.server.idempotency.backends import MemoryBackend
from adcp.server.idempotency.webhook_dedup import WebhookDedupStore
from adcp.signing import StaticJwksResolver
from adcp.signing.webhook_verifier import WebhookVerifyOptions, verify_webhook_signature
from adcp.webhook_receiver import WebhookReceiver, WebhookReceiverConfig
from adcp.webhook_sender import WebhookSender

# One store for all: what came before is remembered, as at a buyer.
dedup = WebhookDedupStore(MemoryBackend())


def options_of(question):
    keys = StaticJwksResolver({"keys": [question["key"]]})
    return WebhookVerifyOptions(jwks_resolver=keys, clock=lambda: question["at"])


def request_of(question):
    request = question["request"]
    return {**{name: request[name] for name in ("method", "url", "headers")}, "body": request["body"].encode("utf-8")}


async def receive(question):
    """Its own receiver, where it has one for the kind."""
    config = WebhookReceiverConfig(
        verify_options=options_of(question),
        dedup=dedup,
        receiver_scope=question["scope"],
        publisher_scope_for=lambda signer: "seller",
        kind=question["kind"],
    )
    receiver = WebhookReceiver(config)
    outcome = await receiver.receive(**request_of(question))
    if outcome.rejected:
        return {"ok": False, "reason": outcome.rejection_reason}
    if not (outcome.duplicate or outcome.in_progress):
        await receiver.acknowledge(outcome)
    return {"ok": True, "duplicate": outcome.duplicate}


def model_of(schema):
    """The model of a schema, by the schema's path; none where the SDK does not know it."""
    folder, name = schema.removesuffix(".json").split("/")
    try:
        module = importlib.import_module(f"adcp.types.domains.{folder.replace('-', '_')}.{name.replace('-', '_')}")
    except ModuleNotFoundError:
        return None
    wanted = "".join(word.capitalize() for word in name.split("-"))
    return getattr(module, wanted, None)


async def parse(question):
    """Signature and model: kinds for which it has no receiver."""
    verify_webhook_signature(**request_of(question), options=options_of(question))
    model = model_of(question["schema"])
    if model is None:
        return {"ok": False, "reason": "unknown to the peer"}
    model.model_validate(json.loads(question["request"]["body"]))
    return {"ok": True}


async def send(question):
    """Builds, signs and sends; what it would have sent is the answer."""
    captured = {}

    def handler(request):
        captured.update(
            method=request.method, url=str(request.url), headers=dict(request.headers), body=request.content.decode("utf-8")
        )
        return httpx.Response(200)

    async with httpx.AsyncClient(transport=httpx.MockTransport(handler)) as client:
        sender = WebhookSender.from_jwk(question["key"], client=client)
        given = question["given"]
        if question["what"] == "challenge":
            await sender.send_webhook_challenge(url=question["url"], **given)
        elif question["what"] == "task":
            await sender.send_mcp(url=question["url"], **given)
        else:
            await sender.send_raw(url=question["url"], idempotency_key=given["idempotency_key"], payload=given)
    return {"ok": True, "request": captured}


actions = {"receive": receive, "parse": parse, "send": send}
print(json.dumps({"name": f"adcp {version('adcp')}"}), flush=True)
for line in sys.stdin:
    question = json.loads(line)
    try:
        answer = asyncio.run(actions[question["do"]](question))
    except Exception as error:
        answer = {"ok": False, "reason": f"{type(error).__name__}: {str(error)[:600]}"}
    print(json.dumps(answer), flush=True)
