"""The official Python SDK's registry client, asked one question a line: every method of it, and its replicas."""
import asyncio
import importlib.metadata
import inspect
import json
import sys
import tempfile
from pathlib import Path

from adcp.property_registry import PropertyRegistry
from adcp.registry import RegistryClient
from adcp.registry_sync import FileCursorStore, RegistrySync

STATE = {}


def methods():
    """Public methods that ask the server."""
    for name, method in inspect.getmembers(RegistryClient, inspect.iscoroutinefunction):
        if not name.startswith("_") and name != "close":
            yield name, inspect.signature(method)


def arguments(signature, words, special, body):
    """Words for what the method must be given."""
    found = {}
    for parameter in list(signature.parameters.values())[1:]:
        if parameter.kind is parameter.VAR_KEYWORD:
            continue
        if parameter.name in special:
            found[parameter.name] = special[parameter.name]
        elif parameter.default is parameter.empty:
            found[parameter.name] = words.get(parameter.name, "word")
    # What a body is made of has no names in the signature.
    return {**found, **body}


def shown(answer):
    if hasattr(answer, "model_dump"):
        return answer.model_dump(mode="json")
    if isinstance(answer, (list, tuple)):
        return [shown(one) for one in answer]
    return answer


async def call(question):
    told = []
    words = question["words"]
    async with RegistryClient(base_url=question["url"], timeout=30.0) as client:
        for name, signature in methods():
            special = {"auth_token": question["key"], **question["special"].get(name, {})}
            body = question["bodies"].get(name, {})
            try:
                answer = await getattr(client, name)(**arguments(signature, words, special, body))
                nothing = answer is None or (isinstance(answer, dict) and answer and all(one is None for one in answer.values()))
                detail = json.dumps(shown(answer), default=str)[:80]
                told.append({"method": name, "outcome": "nothing" if nothing else "answered", "detail": detail})
            except Exception as error:  # noqa: BLE001
                status = getattr(error, "status_code", None)
                detail = f"{type(error).__name__}: {error} {getattr(error, 'details', '')}"
                told.append({"method": name, "outcome": "threw", "detail": detail[:600], "status": status})
    return {"ok": True, "calls": told}


async def start(question):
    """Begins both replicas."""
    client = RegistryClient(base_url=question["url"], timeout=30.0)
    folder = Path(tempfile.mkdtemp())
    registry = PropertyRegistry(client, auth_token=question["key"], poll_interval=0.05, cursor_store=FileCursorStore(folder / "a"))
    await registry.start()
    sync = RegistrySync(client, auth_token=question["key"], poll_interval=0.05, cursor_store=FileCursorStore(folder / "b"))
    heard = []

    async def hear(event):
        heard.append([event.event_type, event.payload.get("publisher_domain")])

    sync.on_all(hear)
    task = asyncio.create_task(sync.start())
    STATE.update(registry=registry, sync=sync, heard=heard, task=task, client=client)
    return {"ok": True, "agents": registry.agent_count, "domains": registry.domain_count}


async def ask(question):
    """Waits until both have heard of an event of a domain."""
    agent, domain = question["agent"], question["domain"]
    for _ in range(600):
        held = STATE["registry"].is_authorized(agent, domain) == question["authorized"]
        told = [question["event"], domain] in STATE["heard"]
        if held and told:
            break
        await asyncio.sleep(0.05)
    return {"ok": True, "PropertyRegistry": held, "RegistrySync": told}


async def stop(_):
    await STATE["registry"].stop()
    await STATE["sync"].stop()
    await STATE["task"]
    await STATE["client"].close()
    return {"ok": True}


async def main():
    print(json.dumps({"name": f"adcp {importlib.metadata.version('adcp')}"}), flush=True)
    reader = asyncio.get_running_loop()
    while line := await reader.run_in_executor(None, sys.stdin.readline):
        question = json.loads(line)
        work = {"call": call, "start": start, "ask": ask, "stop": stop}[question["do"]]
        print(json.dumps(await work(question)), flush=True)


asyncio.run(main())
