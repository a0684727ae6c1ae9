/** A worker at the edge: a webhook is verified, judged, and its one handler run. Bundled and served by ../edge.test.ts. */
import { createWebBuyer } from "adbind/buyer/web";
import { readWebhookAnswer } from "adbind/contract";
import { extractWebhook } from "adbind/extract";
import { memoryReplayStore, staticKeys, verifyWebhook } from "adbind/signing/web";
import { precompiled } from "adbind/standalone";
import { createMediaBuy, handleCreateMediaBuy, release } from "./bindings/3.1.0/index.js";
import { createMediaBuy as schemas } from "./bindings/3.1.0/validators/create-media-buy.js";

declare const JWK: object;
declare const SENDER: string;
declare const PUBLIC_URL: string;

const validator = precompiled({ create_media_buy: schemas });
const options = { keys: staticKeys([JWK] as never, { sender: SENDER }), replay: memoryReplayStore() };

/** What an edge does not have; a library that needs any of it does not run there. */
function lacks(): unknown[] {
  const names = ["process", "Buffer", "require"].map((name) => typeof (globalThis as Record<string, unknown>)[name]);
  try {
    return [...names, new Function("return 1")()];
  } catch (error) {
    return [...names, (error as Error).name];
  }
}

/** Agrees with an agent, lists its tools and calls one. */
async function buy(url: string): Promise<Response> {
  const buyer = createWebBuyer({ release, agent: { url, transport: "mcp" }, allowLocal: true });
  const tools = await buyer.listed();
  const { answer } = await buyer.tools.get_products({ buying_mode: "brief", brief: "runners" });
  await buyer.close();
  return Response.json({ tools: tools.length, status: answer.status, lacks: lacks() });
}

const edge = {
  async fetch(request: Request): Promise<Response> {
    const agent = new URL(request.url).searchParams.get("agent");
    if (agent !== null) return buy(agent);
    const body = new Uint8Array(await request.arrayBuffer());
    const headers = Object.fromEntries(request.headers as unknown as Iterable<[string, string]>);
    const verified = await verifyWebhook({ method: request.method, url: PUBLIC_URL, headers, body }, options);
    if (!verified.ok) return Response.json({ code: verified.code }, { status: 401 });
    const { data } = extractWebhook(verified.json);
    const answer = readWebhookAnswer(createMediaBuy, verified.json as never, "proto");
    const judged = validator.arm("create_media_buy", answer.status, data);
    const none = () => "another arm";
    const told = handleCreateMediaBuy(answer, {
      submitted: none,
      working: none,
      "input-required": none,
      completed: (done) => ("media_buy_id" in done ? `bought ${done.media_buy_id}` : "nothing bought"),
      failed: none,
      canceled: none,
      rejected: none,
    });
    return Response.json({ told, taskId: answer.taskId, errors: judged.ok ? [] : judged.errors, lacks: lacks() });
  },
};

// workerd asks for its handlers under this name.
export { edge as default };
