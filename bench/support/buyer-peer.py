"""The official Python SDK's client, call after call: how long each takes, in milliseconds, as one line of JSON.

Arguments: a seller's MCP endpoint, the release line to ask in, calls before the count, calls counted.
"""

import asyncio
import json
import logging
import sys
import time

from adcp import ADCPClient
from adcp.types import AgentConfig, GetProductsRequest, Protocol

logging.disable(logging.CRITICAL)


async def main():
    url, line, warm, count = sys.argv[1:]
    config = AgentConfig(id="seller", agent_uri=url, protocol=Protocol.MCP, timeout=60.0)
    took = []
    async with ADCPClient(config, adcp_version=line) as client:
        request = GetProductsRequest(buying_mode="wholesale", brand={"domain": "acmeoutdoor.example"})
        for number in range(int(warm) + int(count)):
            began = time.perf_counter()
            result = await client.get_products(request)
            if not result.success:
                raise SystemExit(f"the call failed: {str(result.error)[:300]}")
            if number >= int(warm):
                took.append((time.perf_counter() - began) * 1000)
    print(json.dumps(took))


asyncio.run(main())
