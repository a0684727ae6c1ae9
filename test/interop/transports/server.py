"""An official Python MCP server with two tools of the protocol, for our buyer. Prints its port. Arguments: kind."""

import json
import socket
import sys
from typing import Any

import uvicorn

ANSWERS = json.loads(sys.argv[2])
listening = socket.socket()
listening.bind(("127.0.0.1", 0))
listening.listen(64)

if sys.argv[1] == "mcp-1":
    from mcp.server.fastmcp import FastMCP as Server
else:
    from mcp.server import MCPServer as Server

server = Server("peer")


def register(name):
    @server.tool(name=name)
    def tool(context: Any = None) -> dict[str, Any]:
        return ANSWERS[name]


for name in ANSWERS:
    register(name)


@server.tool(name="list_accounts")
def list_accounts() -> dict[str, Any]:
    raise ValueError("the accounts are away")


print(listening.getsockname()[1], flush=True)
config = uvicorn.Config(server.streamable_http_app(), log_level="error")
uvicorn.Server(config).run(sockets=[listening])
