"""The official Python SDK's client as a buyer that was never here: what it makes of a seller's products.

Arguments: a seller's MCP endpoint and the release line to ask in, as often as wanted. Prints a line of JSON for each.
"""

import asyncio
import json
import logging
import sys

from adcp import ADCPClient
from adcp.types import AgentConfig, GetProductsRequest, Protocol

logging.disable(logging.CRITICAL)


async def ask(url, line):
    config = AgentConfig(id="seller", agent_uri=url, protocol=Protocol.MCP, timeout=60.0)
    async with ADCPClient(config, adcp_version=line) as client:
        request = GetProductsRequest(buying_mode="wholesale", brand={"domain": "acmeoutdoor.example"})
        result = await client.get_products(request)
    data = result.data.model_dump(mode="json") if result.data is not None else {}
    products = data.get("products") or []
    return {
        "ok": result.success,
        "error": str(result.error)[:400] if result.error else None,
        "products": {one["product_id"]: len(one.get("format_options") or []) for one in products},
        "diagnostics": data.get("errors") or [],
    }


async def main():
    given = sys.argv[1:]
    for url, line in zip(given[::2], given[1::2]):
        try:
            seen = await ask(url, line)
        except Exception as error:
            seen = {"ok": False, "error": str(error)[:400], "products": {}, "diagnostics": []}
        print(json.dumps(seen))


asyncio.run(main())
