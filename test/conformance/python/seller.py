"""The official Python SDK's own server with the smallest handlers that sell: what its framework does is what is graded."""

import sys
import uuid

from adcp.server import ADCPHandler, IdempotencyStore, MemoryBackend, serve
from adcp.server.auth import BearerTokenAuth, Principal, auth_context_factory, validator_from_token_map
from adcp.server.responses import (
    capabilities_response,
    delivery_response,
    media_buy_response,
    media_buys_response,
    sync_accounts_response,
)

port, *tokens = sys.argv[1:]

PRODUCT = {
    "product_id": "display",
    "name": "Display",
    "description": "Display on one site",
    "publisher_properties": [{"publisher_domain": "publisher.example", "selection_type": "all"}],
    "format_ids": [{"agent_url": f"http://127.0.0.1:{port}/mcp", "id": "display_300x250"}],
    "delivery_type": "non_guaranteed",
    "channels": ["display"],
    "pricing_options": [
        {"pricing_option_id": "cpm", "pricing_model": "cpm", "currency": "USD", "fixed_price": 5.0}
    ],
    "reporting_capabilities": {
        "available_reporting_frequencies": ["daily"],
        "expected_delay_minutes": 240,
        "timezone": "UTC",
        "supports_webhooks": False,
        "available_metrics": ["impressions"],
        "date_range_support": "date_range",
    },
}

buys: dict[str, dict] = {}
idempotency = IdempotencyStore(backend=MemoryBackend(), ttl_seconds=86400)


class Seller(ADCPHandler):
    async def get_adcp_capabilities(self, params, context=None):
        return capabilities_response(
            ["media_buy"], supported_versions=["3.1"], idempotency=idempotency.capability()
        )

    async def get_products(self, params, context=None):
        # products_response takes formats of 3.2 only; who asks here speaks 3.1.
        return {"status": "completed", "products": [PRODUCT], "cache_scope": "account"}

    @idempotency.wrap
    async def create_media_buy(self, params, context=None):
        buy_id = f"mb_{uuid.uuid4().hex[:12]}"
        rows = params.get("packages") or []
        packages = [
            {"package_id": f"{buy_id}_{at}", "product_id": row["product_id"], "budget": row["budget"]}
            for at, row in enumerate(rows)
        ]
        buys[buy_id] = {"media_buy_id": buy_id, "packages": packages}
        return media_buy_response(buy_id, packages, status="active")

    async def get_media_buys(self, params, context=None):
        def shown(buy):
            total = sum(one["budget"] for one in buy["packages"])
            return {**buy, "status": "active", "currency": "USD", "total_budget": total}

        return media_buys_response([shown(buy) for buy in buys.values()])

    async def get_media_buy_delivery(self, params, context=None):
        period = {"start": "2026-01-01T00:00:00Z", "end": "2026-01-02T00:00:00Z"}
        return delivery_response([], reporting_period=period)

    @idempotency.wrap
    async def sync_accounts(self, params, context=None):
        def made(at, row):
            named = {"brand": row.get("brand"), "operator": row.get("operator")}
            return {"account_id": f"acc_{at}", **named, "action": "created", "status": "active"}

        return sync_accounts_response([made(at, row) for at, row in enumerate(params.get("accounts") or [])])


auth = BearerTokenAuth(
    validate_token=validator_from_token_map(
        {token: Principal(caller_identity="runner", tenant_id="runner") for token in tokens}
    )
)

if __name__ == "__main__":
    serve(
        Seller(),
        name="python-seller",
        port=int(port),
        host="127.0.0.1",
        auth=auth,
        context_factory=auth_context_factory,
        supported_versions=["3.1"],
    )
