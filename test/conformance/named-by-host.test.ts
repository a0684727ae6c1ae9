/** An agent that is named by its host or its card is judged at the URL that its card names. */
import { randomUUID } from "node:crypto";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { release } from "../../generated/3.1.0/index.js";
import { openA2aSession } from "../../runtime/conformance/agent/a2a.js";
import { createSeller } from "../../runtime/seller/index.js";
import { freePort } from "../../runtime/testing/free-port.js";

test("whichever of its URLs an agent is named by, what it publishes is compared with where it is called", async () => {
  const port = await freePort();
  const tools = { get_products: (_request: unknown, ctx: { complete: (data: object) => never }) => ctx.complete({}) };
  const baseUrl = `http://127.0.0.1:${port}`;
  const seller = await createSeller({ release, baseUrl, mode: "development", tools } as never);
  await seller.start({ port });
  const common = { fetch, timeoutMs: 5_000, uuid: randomUUID, now: Date.now };
  for (const url of [baseUrl, `${baseUrl}/a2a`, `${baseUrl}/.well-known/agent-card.json`]) {
    const session = await openA2aSession({ ...common, url });
    assert.is(session.url, `${baseUrl}/a2a`, url);
    await session.close();
  }
  await seller.close();
});

test.run();
