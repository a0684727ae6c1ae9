"""The official Python SDK's receiver on its usual server, to be measured from another process. Arguments: port, key as JSON."""

import json
import resource
import signal
import sys

import uvicorn
from adcp.server.idempotency.backends import MemoryBackend
from adcp.server.idempotency.webhook_dedup import WebhookDedupStore
from adcp.signing import StaticJwksResolver
from adcp.signing.webhook_verifier import WebhookVerifyOptions
from adcp.webhook_receiver import WebhookReceiver, WebhookReceiverConfig

PUBLIC_URL = "http://127.0.0.1:8080"

port, key = int(sys.argv[1]), json.loads(sys.argv[2])
receiver = WebhookReceiver(
    WebhookReceiverConfig(
        verify_options=WebhookVerifyOptions(jwks_resolver=StaticJwksResolver({"keys": [key]})),
        dedup=WebhookDedupStore(MemoryBackend()),
        receiver_scope="bench",
        publisher_scope_for=lambda signer: "seller",
        kind="mcp",
    )
)


async def body_of(receive):
    chunks = []
    while True:
        message = await receive()
        chunks.append(message.get("body", b""))
        if not message.get("more_body"):
            return b"".join(chunks)


async def app(scope, receive, send):
    if scope["type"] != "http":
        return
    headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
    url = PUBLIC_URL + scope["path"]
    outcome = await receiver.receive(method=scope["method"], url=url, headers=headers, body=await body_of(receive))
    if not (outcome.rejected or outcome.duplicate or outcome.in_progress):
        await receiver.acknowledge(outcome)
    answer = outcome.rejection_reason.encode() if outcome.rejected else b"{}"
    fields = [(b"content-type", b"application/json"), (b"content-length", str(len(answer)).encode())]
    await send({"type": "http.response.start", "status": 401 if outcome.rejected else 200, "headers": fields})
    await send({"type": "http.response.body", "body": answer})


def tell(*_):
    """Says how much processor time it has taken, in microseconds."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    print(f"cpu {int((used.ru_utime + used.ru_stime) * 1e6)}", flush=True)


class Server(uvicorn.Server):
    async def startup(self, sockets=None):
        await super().startup(sockets=sockets)
        signal.signal(signal.SIGUSR2, tell)
        print("ready", flush=True)


Server(uvicorn.Config(app, host="127.0.0.1", port=port, log_level="error", access_log=False, lifespan="off")).run()
