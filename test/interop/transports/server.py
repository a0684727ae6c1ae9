"""An official Python server with two tools of the protocol, for our buyer. Prints its port. Arguments: kind, answers."""

import json
import socket
import sys
from typing import Any

import uvicorn

KIND = sys.argv[1]
ANSWERS = json.loads(sys.argv[2])
listening = socket.socket()
listening.bind(("127.0.0.1", 0))
listening.listen(64)
URL = f"http://127.0.0.1:{listening.getsockname()[1]}"
AWAY = {"errors": [{"code": "AWAY", "message": "the accounts are away"}]}
TOOLS = [*ANSWERS, "list_accounts"]


def mcp_app():
    if KIND == "mcp-1":
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

    return server.streamable_http_app()


def executor(skill_of, data_part, updater):
    """Ends each call's task with its answer, or fails it with errors. How parts are read and made differs by line."""
    from a2a.server.agent_execution import AgentExecutor

    class Executor(AgentExecutor):
        async def execute(self, context, queue):
            answer = ANSWERS.get(skill_of(context.message))
            task = await updater(context, queue)
            await task.add_artifact([data_part(answer or AWAY)])
            await (task.complete() if answer else task.failed())

        async def cancel(self, context, queue):
            raise NotImplementedError

    return Executor()


def a2a_new_app():
    """The 1.x line: both versions of the protocol, of which the card offers one."""
    from a2a.helpers import get_data_parts, new_data_part, new_task_from_user_message
    from a2a.server.request_handlers import DefaultRequestHandler
    from a2a.server.routes import create_agent_card_routes, create_jsonrpc_routes
    from a2a.server.tasks import InMemoryTaskStore, TaskUpdater
    from a2a.types import a2a_pb2 as t
    from google.protobuf.json_format import ParseDict
    from starlette.applications import Starlette

    version = KIND.removeprefix("a2a-new-")
    card = ParseDict(
        {
            "name": "peer",
            "description": "peer",
            "version": "1",
            "supportedInterfaces": [{"url": f"{URL}/a2a", "protocolBinding": "JSONRPC", "protocolVersion": version}],
            "capabilities": {},
            "defaultInputModes": ["application/json"],
            "defaultOutputModes": ["application/json"],
            "skills": [{"id": name, "name": name, "description": name, "tags": ["tool"]} for name in TOOLS],
        },
        t.AgentCard(),
    )

    async def updater(context, queue):
        task = new_task_from_user_message(context.message)
        task.id, task.context_id = context.task_id, context.context_id
        await queue.enqueue_event(task)
        return TaskUpdater(queue, context.task_id, context.context_id)

    made = executor(lambda message: get_data_parts(message.parts)[0]["skill"], new_data_part, updater)
    handler = DefaultRequestHandler(agent_executor=made, task_store=InMemoryTaskStore(), agent_card=card)
    rpc = create_jsonrpc_routes(handler, "/a2a", enable_v0_3_compat=version == "0.3")
    return Starlette(routes=[*create_agent_card_routes(card), *rpc])


def a2a_old_app():
    from a2a.server.apps import A2AStarletteApplication
    from a2a.server.request_handlers import DefaultRequestHandler
    from a2a.server.tasks import InMemoryTaskStore, TaskUpdater
    from a2a.types import AgentCapabilities, AgentCard, AgentSkill, DataPart, Part
    from a2a.utils import new_task

    card = AgentCard(
        name="peer",
        description="peer",
        version="1",
        url=f"{URL}/a2a",
        capabilities=AgentCapabilities(),
        default_input_modes=["application/json"],
        default_output_modes=["application/json"],
        skills=[AgentSkill(id=name, name=name, description=name, tags=["tool"]) for name in TOOLS],
    )

    async def updater(context, queue):
        await queue.enqueue_event(context.current_task or new_task(context.message))
        return TaskUpdater(queue, context.task_id, context.context_id)

    made = executor(
        lambda message: message.parts[0].root.data["skill"], lambda data: Part(root=DataPart(data=data)), updater
    )
    handler = DefaultRequestHandler(agent_executor=made, task_store=InMemoryTaskStore())
    return A2AStarletteApplication(agent_card=card, http_handler=handler).build(rpc_url="/a2a")


app = mcp_app() if KIND.startswith("mcp") else a2a_old_app() if KIND == "a2a-old" else a2a_new_app()
print(listening.getsockname()[1], flush=True)
uvicorn.Server(uvicorn.Config(app, log_level="error")).run(sockets=[listening])
