/** Several agents on one host: each is the one whose URL was given, and no other is called in its place. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { createBuyer } from "../../runtime/buyer/index.js";
import type { JsonObject } from "../../runtime/contract/index.js";
import { capabilities, release } from "./fixtures.js";

const CARD = "/.well-known/agent-card.json";

/** A host of two agents over A2A, whose first has the card at the origin. `missing`: what it says of places without a card. */
async function host(version: "1.0" | "0.3", missing: number, own: boolean) {
  const called: string[] = [];
  const server = createServer(async (request, response) => {
    const at = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const path = request.url ?? "";
    const reply = (body: object, status = 200): void =>
      void response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
    if (path.endsWith(CARD)) {
      const agent = path.slice(0, -CARD.length) || "/one";
      if (path !== CARD && !own) return reply({}, missing);
      if (missing >= 500 && path !== CARD) return reply({}, missing);
      const url = `${at}${agent}`;
      const places =
        version === "1.0"
          ? { supportedInterfaces: [{ url, protocolBinding: "JSONRPC", protocolVersion: "1.0" }] }
          : { url, protocolVersion: "0.3.0", preferredTransport: "JSONRPC" };
      const modes = { defaultInputModes: ["application/json"], defaultOutputModes: ["application/json"] };
      return reply({
        name: agent,
        description: agent,
        version: "1",
        capabilities: {},
        ...modes,
        skills: [],
        ...places,
      });
    }
    let text = "";
    for await (const chunk of request) text += chunk;
    const { id, params } = JSON.parse(text) as { id: unknown; params: { message: { parts: { data: JsonObject }[] } } };
    const { skill } = params.message.parts[0]!.data;
    if (skill !== "get_agent_capabilities") called.push(path);
    const data = skill === "get_agent_capabilities" ? capabilities() : { status: "completed", products: [] };
    const old = version === "0.3";
    const parts = [old ? { kind: "data", data } : { data }];
    const status = { state: old ? "completed" : "TASK_STATE_COMPLETED" };
    const task = { id: "t", contextId: "c", status, artifacts: [{ artifactId: "a", parts }] };
    reply({ jsonrpc: "2.0", id, result: old ? { kind: "task", ...task } : { task } });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const call = async (agent: string): Promise<string> => {
    const buyer = createBuyer({
      release,
      agent: agent,
      transport: "a2a",
      allowLocal: true,
      retry: { attempts: 1 },
    } as never);
    const { answer } = await buyer.call("get_products", { buying_mode: "brief", brief: "b" });
    await buyer.close();
    return answer.status;
  };
  const close = (): void => {
    server.closeAllConnections();
    server.close();
  };
  return { url, called, call, close };
}

for (const version of ["1.0", "0.3"] as const) {
  test(`A2A ${version}: the agent whose URL was given is called, not the one whose card is at the origin`, async () => {
    const { url, called, call, close } = await host(version, 404, true);
    for (const agent of ["/two", "/two/", "/one", "", `/two${CARD}`])
      assert.is(await call(`${url}${agent}`), "completed");
    assert.equal(
      called,
      ["/two", "/two", "/one", "/one", "/two"].map((path) => path.replace(/\/$/, "")),
    );
    close();
  });

  test(`A2A ${version}: the card at the origin is read where there is none under the agent's URL`, async () => {
    for (const missing of [404, 401, 405]) {
      const { url, called, call, close } = await host(version, missing, false);
      assert.is(await call(`${url}/one`), "completed", String(missing));
      assert.equal(called, ["/one"]);
      close();
    }
  });

  test(`A2A ${version}: an agent that is in trouble is not called by another's card`, async () => {
    const { url, called, call, close } = await host(version, 503, true);
    assert.is(await call(`${url}/two`), "failed");
    assert.equal(called, []);
    close();
  });
}

test.run();
