"""The official Python SDK's own server, of one release line: the smallest handlers that sell, at once and later."""

import sys
import time

from adcp.server import ADCPHandler, IdempotencyStore, MemoryBackend, serve
from adcp.server.auth import BearerTokenAuth, Principal, auth_context_factory, validator_from_token_map
from adcp.server.responses import capabilities_response, delivery_response

port, line, token = sys.argv[1:]

PRICE = {"pricing_option_id": "cpm", "pricing_model": "cpm", "currency": "USD", "fixed_price": 5.0}
PRODUCT = {
    "product_id": "display",
    "name": "Display",
    "description": "Display on one site",
    "publisher_properties": [{"publisher_domain": "publisher.example", "selection_type": "all"}],
    "format_ids": [{"agent_url": f"http://127.0.0.1:{port}/mcp", "id": "display_300x250"}],
    "delivery_type": "non_guaranteed",
    "channels": ["display"],
    "pricing_options": [PRICE],
    "reporting_capabilities": {
        "available_reporting_frequencies": ["daily"],
        "expected_delay_minutes": 240,
        "timezone": "UTC",
        "supports_webhooks": False,
        "available_metrics": ["impressions"],
        "date_range_support": "date_range",
    },
}
BUY = {
    "status": "completed",
    "media_buy_id": "mb_1",
    "media_buy_status": "active",
    "confirmed_at": "2026-11-01T00:00:00Z",
    "revision": 1,
    "packages": [{"package_id": "p_1", "product_id": "display", "budget": 100}],
}

polls: dict[str, int] = {}
idempotency = IdempotencyStore(backend=MemoryBackend(), ttl_seconds=86400)


class Seller(ADCPHandler):
    async def get_adcp_capabilities(self, params, context=None):
        said = capabilities_response(
            ["media_buy"], supported_versions=[line], idempotency=idempotency.capability()
        )
        # The oldest line demands it.
        return {**said, "account": {"supported_billing": ["agent"]}}

    async def get_products(self, params, context=None):
        return {"status": "completed", "products": [PRODUCT], "cache_scope": "account"}

    @idempotency.wrap
    async def create_media_buy(self, params, context=None):
        if (params.get("packages") or [{}])[0].get("product_id") == "later":
            return {"status": "submitted", "task_id": f"task_{time.time_ns()}"}
        return BUY

    @idempotency.wrap
    async def update_media_buy(self, params, context=None):
        return {"status": "completed", "media_buy_id": params["media_buy_id"], "revision": 2}

    @idempotency.wrap
    async def sync_creatives(self, params, context=None):
        rows = [{"creative_id": one["creative_id"], "action": "created"} for one in params["creatives"]]
        return {"status": "completed", "creatives": rows}

    async def get_media_buy_delivery(self, params, context=None):
        return delivery_response([], reporting_period={"start": "2026-01-01T00:00:00Z", "end": "2026-01-02T00:00:00Z"})

    async def get_task_status(self, params, context=None):
        task = params["task_id"]
        polls[task] = polls.get(task, 0) + 1
        over = polls[task] > 2
        return {
            "task_id": task,
            "task_type": "create_media_buy",
            "protocol": "media-buy",
            "status": "completed" if over else "working",
            "created_at": "2026-11-01T00:00:00Z",
            "updated_at": "2026-11-01T00:00:01Z",
            **({"result": BUY} if over else {}),
        }


auth = BearerTokenAuth(
    validate_token=validator_from_token_map({token: Principal(caller_identity="buyer", tenant_id="buyer")})
)

if __name__ == "__main__":
    serve(
        Seller(),
        name="python-seller",
        port=int(port),
        host="127.0.0.1",
        transport="both",
        public_url=f"http://127.0.0.1:{port}",
        auth=auth,
        context_factory=auth_context_factory,
        supported_versions=[line],
    )
