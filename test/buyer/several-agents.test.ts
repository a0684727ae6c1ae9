/** Several agents at one host: each is asked at its own path, whoever the host's own card is of. */
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { release } from "../../generated/3.1.0/index.js";
import { createBuyer } from "../../runtime/buyer/index.js";
import { createSeller } from "../../runtime/seller/index.js";

/** Two sellers below paths of a host, whose root has the first one's card, or says nothing of cards. */
async function withHost(rootStatus: number | undefined, work: (url: string) => Promise<void>): Promise<void> {
  const listeners = new Map<string, RequestListener>();
  const server = createServer((request, response) => {
    const [, at, path] = /^(\/north|\/south)(\/.*)$/.exec(request.url ?? "") ?? [];
    if (at === "/south" && rootStatus !== undefined && /agent(-card)?\.json$/.test(path ?? "")) {
      response.writeHead(rootStatus).end();
      return;
    }
    request.url = path ?? request.url;
    listeners.get(at ?? "/north")!(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const sellers = ["north", "south"].map((name) =>
    createSeller({
      release,
      name,
      baseUrl: `${url}/${name}`,
      mode: "development",
      tools: { get_products: (_request, ctx) => ctx.complete({ products: [], ext: { seller: name } }) },
    }),
  );
  try {
    for (const seller of await Promise.all(sellers)) {
      const { listener } = await seller.mount();
      listeners.set(`/${listeners.size === 0 ? "north" : "south"}`, listener);
    }
    await work(url);
  } finally {
    for (const seller of await Promise.all(sellers)) await seller.close();
    server.closeAllConnections();
    server.close();
  }
}

async function askedAt(agent: string): Promise<unknown> {
  const buyer = createBuyer({ release, agent: { url: agent, transport: "a2a" }, allowLocal: true });
  try {
    const { answer } = await buyer.tools.get_products({ buying_mode: "brief", brief: "sports" });
    return answer.status === "completed" ? (answer.data.ext as { seller?: unknown })?.seller : answer.status;
  } finally {
    await buyer.close();
  }
}

test("an agent below a path of its host is called by the card below its URL, and not by the host's", () =>
  withHost(undefined, async (url) => {
    assert.is(await askedAt(`${url}/south/a2a`), "south");
    assert.is(await askedAt(`${url}/north/a2a/`), "north");
    assert.is(await askedAt(url), "north");
    assert.is(await askedAt(`${url}/south/.well-known/agent-card.json`), "south");
  }));

test("an agent whose own card cannot be had now is not taken for the host's", () =>
  withHost(403, async (url) => {
    assert.is.not(await askedAt(`${url}/south/a2a`).catch(() => "nobody"), "north");
  }));

test("where nothing is below an agent's URL its card is the host's", () =>
  withHost(404, async (url) => {
    assert.is(await askedAt(`${url}/south/a2a`), "north");
  }));

test.run();
