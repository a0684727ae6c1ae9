"""An official Python client before a seller: one JSON line for each step. Arguments: kind, URL, token."""

import asyncio
import json
import sys
import uuid

KIND, URL, TOKEN = sys.argv[1:4]
BRIEF = {"buying_mode": "brief", "brief": "runners"}
HEADERS = {"authorization": f"Bearer {TOKEN}"}
REQUEST = json.loads(sys.stdin.read())


def tell(step, fault=None):
    print(json.dumps({"step": step, "fault": fault}), flush=True)


async def step(name, job):
    try:
        fault = await job()
    except BaseException as error:  # noqa: BLE001 - groups of a cancelled task too
        fault = f"{type(error).__name__}: {error}"[:300]
    tell(name, fault)


def wrong(condition, what):
    return None if condition else str(what)[:300]


async def mcp_steps(list_tools, call_tool, structured, is_error):
    async def listed():
        names = [tool.name for tool in (await list_tools()).tools]
        return wrong("create_media_buy" in names, names)

    async def called():
        result = await call_tool("get_products", BRIEF)
        return wrong(structured(result)["status"] == "completed", result)

    async def refused():
        result = await call_tool("create_media_buy", REQUEST["missing"])
        return wrong(is_error(result) and structured(result)["errors"][0]["code"] == "PRODUCT_NOT_FOUND", result)

    for name, job in (("list", listed), ("call", called), ("refused", refused)):
        await step(name, job)


async def mcp_new(mode):
    import httpx2
    from mcp import Client
    from mcp.client.streamable_http import streamable_http_client

    async def challenged():
        try:
            async with Client(URL, mode=mode) as client:
                await client.list_tools()
        except BaseException:  # noqa: BLE001
            return None
        return "a client without credentials was let in"

    await step("challenge", challenged)
    async with httpx2.AsyncClient(headers=HEADERS) as http:
        async with Client(streamable_http_client(URL, http_client=http), mode=mode) as client:
            expected = "2025-11-25" if mode == "legacy" else "2026-07-28"
            tell("version", wrong(client.protocol_version == expected, client.protocol_version))
            await mcp_steps(
                client.list_tools, client.call_tool, lambda r: r.structured_content, lambda r: r.is_error
            )


async def mcp_old():
    from mcp import ClientSession
    from mcp.client.streamable_http import streamablehttp_client

    async with streamablehttp_client(URL, headers=HEADERS) as (read, write, _):
        async with ClientSession(read, write) as session:
            began = await session.initialize()
            tell("version", wrong(began.protocolVersion == "2025-11-25", began.protocolVersion))
            await mcp_steps(
                session.list_tools, session.call_tool, lambda r: r.structuredContent, lambda r: r.isError
            )


async def a2a_new():
    import httpx
    from a2a import types as t
    from a2a.client import ClientConfig, create_client
    from google.protobuf.json_format import ParseDict

    def message(skill, value):
        body = {
            "message": {
                "messageId": str(uuid.uuid4()),
                "role": "ROLE_USER",
                "parts": [{"data": {"skill": skill, "input": value}} if skill else {"text": value}],
            }
        }
        return ParseDict(body, t.SendMessageRequest())

    def state(event):
        kind = event.WhichOneof("payload")
        return t.TaskState.Name(getattr(event, "task" if kind == "task" else "status_update").status.state)

    async with httpx.AsyncClient(headers=HEADERS, timeout=30) as http:
        plain = await create_client(URL, ClientConfig(streaming=False, httpx_client=http))
        stream = await create_client(URL, ClientConfig(streaming=True, httpx_client=http))

        async def called():
            events = [event async for event in plain.send_message(message("get_products", BRIEF))]
            return wrong(state(events[-1]) == "TASK_STATE_COMPLETED", events)

        async def streamed():
            kinds = [e.WhichOneof("payload") async for e in stream.send_message(message("create_media_buy", REQUEST["later"]))]
            return wrong(kinds[0] == "task" and kinds[-1] == "status_update" and "artifact_update" in kinds, kinds)

        async def listed():
            page = await plain.list_tasks(t.ListTasksRequest())
            return wrong(page.total_size >= 1, page)

        async def kept():
            events = [event async for event in plain.send_message(message("create_media_buy", REQUEST["manual"]))]
            id = events[-1].task.id
            found = await plain.get_task(t.GetTaskRequest(id=id))
            try:
                await plain.cancel_task(t.CancelTaskRequest(id=id))
            except Exception as error:  # noqa: BLE001
                return wrong(found.id == id and "cancel" in str(error).lower(), error)
            return "a task with work under way was canceled"

        async def words():
            try:
                [event async for event in plain.send_message(message(None, "Buy me something."))]
            except Exception as error:  # noqa: BLE001
                return wrong("create_media_buy" in str(error), error)
            return "words were taken for a call"

        for name, job in (("call", called), ("stream", streamed), ("list", listed), ("cancel", kept), ("words", words)):
            await step(name, job)


async def a2a_old():
    import httpx
    from a2a.client import ClientConfig, ClientFactory
    from a2a.types import DataPart, Message, Part, Role, TextPart

    def message(skill, value):
        part = DataPart(data={"skill": skill, "parameters": value}) if skill else TextPart(text=value)
        return Message(message_id=str(uuid.uuid4()), role=Role.user, parts=[Part(root=part)])

    async with httpx.AsyncClient(headers=HEADERS, timeout=30) as http:
        plain = await ClientFactory.connect(URL, ClientConfig(streaming=False, httpx_client=http))
        stream = await ClientFactory.connect(URL, ClientConfig(streaming=True, httpx_client=http))

        async def called():
            events = [event async for event in plain.send_message(message("get_products", BRIEF))]
            return wrong(events[-1][0].status.state.value == "completed", events)

        async def streamed():
            last = [event async for event in stream.send_message(message("create_media_buy", REQUEST["later"]))][-1]
            return wrong(last[0].status.state.value == "completed" and last[0].artifacts, last)

        async def words():
            try:
                [event async for event in plain.send_message(message(None, "Buy me something."))]
            except Exception as error:  # noqa: BLE001
                return wrong("create_media_buy" in str(error), error)
            return "words were taken for a call"

        for name, job in (("call", called), ("stream", streamed), ("words", words)):
            await step(name, job)


JOBS = {
    "mcp-auto": lambda: mcp_new("auto"),
    "mcp-legacy": lambda: mcp_new("legacy"),
    "mcp-1": mcp_old,
    "a2a-1": a2a_new,
    "a2a-0.3": a2a_old,
}
asyncio.run(step("connect", JOBS[KIND]))
