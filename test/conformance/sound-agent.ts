/**
 * A small agent of release 3.0.26 that is right in all that a few storyboards ask, and can be made wrong in one thing at a
 * time: what a runner is judged by. It answers JSON-RPC by hand, so that no code of ours stands on both sides.
 */
import { createHash, generateKeyPairSync, randomUUID } from "node:crypto";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { isJsonObject, type JsonObject } from "../../runtime/contract/index.js";
import {
  type Jwk,
  memoryReplayStore,
  signWebhook,
  staticKeys,
  verifyRequestSync,
} from "../../runtime/signing/index.js";

/** What an agent can be made to do wrong. */
export const faults = [
  "wrong code",
  "leaked payload",
  "doubled webhook",
  "stale cursor",
  "second booking",
  "schema drift",
  "replay that answers anew",
  "another tenant's data",
  "unsigned webhook",
  "capability that is not there",
] as const;

export type AgentFault = (typeof faults)[number];

const keys = generateKeyPairSync("ed25519");
const privateKey = { ...keys.privateKey.export({ format: "jwk" }), kid: "sound", alg: "EdDSA", use: "sig" };
const published = {
  ...keys.publicKey.export({ format: "jwk" }),
  kid: "sound",
  alg: "EdDSA",
  use: "sig",
  key_ops: ["verify"],
  adcp_use: "webhook-signing",
};

const product = (id: string, agentUrl: string): JsonObject => ({
  product_id: id,
  name: id,
  description: "A product of the sound agent",
  publisher_properties: [{ publisher_domain: "publisher.example", selection_type: "all" }],
  format_ids: [{ agent_url: agentUrl, id: "display_300x250" }],
  delivery_type: "non_guaranteed",
  pricing_options: [{ pricing_option_id: "test-pricing", pricing_model: "cpm", currency: "USD", fixed_price: 5 }],
  reporting_capabilities: {
    available_reporting_frequencies: ["daily"],
    expected_delay_minutes: 240,
    timezone: "UTC",
    supports_webhooks: false,
    available_metrics: ["impressions"],
    date_range_support: "date_range",
  },
});

const failure = (code: string, more: JsonObject = {}): JsonObject => {
  const error = { code, message: `${code} it is`, recovery: "correctable", ...more };
  return { errors: [error], adcp_error: error };
};

const digest = ({ context: _, ...rest }: JsonObject): string =>
  createHash("sha256").update(JSON.stringify(rest)).digest("hex");

interface Booking {
  readonly digest: string;
  readonly answer: JsonObject;
  readonly request: JsonObject;
}

/** The agent's own state, and its tools. */
class SoundAgent {
  url = "";
  private readonly bookings = new Map<string, Booking>();
  private readonly buys: string[] = [];
  private readonly creatives: JsonObject[] = [];

  constructor(
    private readonly fault: AgentFault | undefined,
    /** It checks the signatures of those who sign, and wants orders signed. */
    readonly verifies: boolean,
  ) {}

  readonly tools: Readonly<Record<string, (args: JsonObject) => JsonObject>> = {
    get_adcp_capabilities: () => ({
      status: "completed",
      adcp: { major_versions: [3], idempotency: { supported: true, replay_ttl_seconds: 86_400 } },
      supported_protocols: ["media_buy", "creative"],
      account: { supported_billing: ["operator"] },
      wholesale_feed_versioning: { supported: true, cache_scope_account: true },
      ...((this.verifies || this.fault === "capability that is not there") && {
        request_signing: { supported: true, covers_content_digest: "either", required_for: ["create_media_buy"] },
      }),
    }),
    get_products: ({ account }) => {
      const { domain } = (isJsonObject(account) && isJsonObject(account.brand) ? account.brand : {}) as {
        domain?: string;
      };
      const own = domain === "account-overlay.example" && this.fault !== "another tenant's data";
      return {
        status: "completed",
        products: [product(own ? "overlay-product" : "test-product", this.url)],
        cache_scope: own ? "account" : "public",
        wholesale_feed_version: own ? "overlay-1" : "public-1",
      };
    },
    create_media_buy: (args) => this.create(args),
    get_media_buys: () => ({ status: "completed", media_buys: [], pagination: { has_more: false, total_count: 0 } }),
    list_creatives: (args) => this.list(args),
    comply_test_controller: (args) => this.control(args),
  };

  private control({ scenario, params }: JsonObject): JsonObject {
    if (scenario === "list_scenarios")
      return { success: true, scenarios: ["seed_product", "seed_pricing_option", "seed_creative"] };
    const { creative_id: id, fixture } = (isJsonObject(params) ? params : {}) as JsonObject;
    if (scenario === "seed_creative")
      this.creatives.push({ ...(isJsonObject(fixture) ? fixture : {}), creative_id: id });
    return { success: true, previous_state: null, current_state: "seeded", message: "seeded" };
  }

  private list({ pagination }: JsonObject): JsonObject {
    const { cursor, max_results: most = 50 } = (isJsonObject(pagination) ? pagination : {}) as {
      cursor?: string;
      max_results?: number;
    };
    const from = cursor === undefined ? 0 : Number(Buffer.from(cursor, "base64url").toString());
    const at = "2026-01-01T00:00:00Z";
    const all = this.creatives.map(({ creative_id: id }) => ({
      creative_id: id,
      name: String(id),
      format_id: { agent_url: this.url, id: "display_300x250" },
      status: "approved",
      created_date: at,
      updated_date: at,
    }));
    const creatives = all.slice(from, from + most);
    const more = from + most < all.length;
    const next = Buffer.from(String(from + most)).toString("base64url");
    const stale = this.fault === "stale cursor" && from > 0;
    const drifted = this.fault === "schema drift" ? creatives.map(({ format_id: _, ...rest }) => rest) : creatives;
    return {
      status: "completed",
      query_summary: { total_matching: all.length, returned: creatives.length },
      pagination: { has_more: more, total_count: all.length, ...((more || stale) && { cursor: next }) },
      creatives: drifted,
    };
  }

  private book(args: JsonObject): JsonObject {
    const id = `mb_${randomUUID()}`;
    this.buys.push(id);
    const rows = Array.isArray(args.packages) ? args.packages.filter(isJsonObject) : [];
    const packages = rows.map((row, index) => ({
      package_id: `pkg_${index}`,
      product_id: row.product_id,
      budget: row.budget,
    }));
    return { media_buy_id: id, status: "active", confirmed_at: new Date().toISOString(), revision: 1, packages };
  }

  private create(args: JsonObject): JsonObject {
    const key = args.idempotency_key;
    if (typeof key !== "string") return failure("INVALID_REQUEST", { field: "idempotency_key" });
    const known = this.bookings.get(key);
    if (known !== undefined && known.digest !== digest(args)) {
      if (this.fault === "wrong code") return failure("SERVICE_UNAVAILABLE");
      return failure(
        "IDEMPOTENCY_CONFLICT",
        this.fault === "leaked payload" ? { details: { first: known.request } } : {},
      );
    }
    if (known !== undefined && this.fault === "replay that answers anew") return known.answer;
    if (known !== undefined && this.fault !== "second booking") return { ...known.answer, replayed: true };
    const push = args.push_notification_config;
    const answer = isJsonObject(push) ? this.later(args, push) : this.book(args);
    this.bookings.set(key, { digest: digest(args), answer, request: args });
    return known === undefined ? answer : { ...answer, replayed: true };
  }

  private later(args: JsonObject, push: JsonObject): JsonObject {
    const task = randomUUID();
    const payload = (key: string): JsonObject => ({
      idempotency_key: key,
      operation_id: push.operation_id,
      task_id: task,
      task_type: "create_media_buy",
      status: "completed",
      timestamp: new Date().toISOString(),
      result: this.book(args),
    });
    const first = payload(randomUUID());
    this.deliver(String(push.url), first).catch(() => undefined);
    if (this.fault === "doubled webhook")
      this.deliver(String(push.url), { ...first, idempotency_key: randomUUID() }).catch(() => undefined);
    return { status: "submitted", task_id: task };
  }

  /** Tries a few times, each with a signature of its own. */
  private async deliver(url: string, payload: JsonObject): Promise<void> {
    const body = Buffer.from(JSON.stringify(payload));
    for (let attempt = 0; attempt < 5; attempt++) {
      const request = { method: "POST", url, headers: { "content-type": "application/json" }, body };
      const { headers } = await signWebhook(request, { key: privateKey, keyid: "sound", word: "adcp" });
      const sent = this.fault === "unsigned webhook" ? { "content-type": "application/json" } : { ...headers };
      const { status } = await fetch(url, { method: "POST", headers: sent as Record<string, string>, body });
      if (status < 300) return;
    }
  }

  call(name: string, args: JsonObject): JsonObject {
    const tool = Object.hasOwn(this.tools, name) ? this.tools[name] : undefined;
    const payload = tool === undefined ? failure("UNSUPPORTED_FEATURE") : tool(args);
    const answer = { ...payload, ...(isJsonObject(args.context) && { context: args.context }) };
    const content = [{ type: "text", text: JSON.stringify(answer) }];
    return { content, structuredContent: answer, ...(payload.errors !== undefined && { isError: true }) };
  }

  answer({ method, params }: JsonObject): JsonObject {
    const { name, arguments: args } = (isJsonObject(params) ? params : {}) as JsonObject;
    if (method === "initialize") {
      const serverInfo = { name: "sound", version: "1.0.0" };
      return { protocolVersion: "2025-06-18", capabilities: { tools: {} }, serverInfo };
    }
    if (method === "tools/list")
      return { tools: Object.keys(this.tools).map((tool) => ({ name: tool, inputSchema: { type: "object" } })) };
    return this.call(String(name), isJsonObject(args) ? args : {});
  }
}

export interface ServedAgent {
  readonly url: string;
  close(): Promise<void>;
}

/** Serves it on a free port of this machine. */
export async function serveSoundAgent(fault?: AgentFault, trusted?: readonly Jwk[]): Promise<ServedAgent> {
  const agent = new SoundAgent(fault, trusted !== undefined);
  const replay = memoryReplayStore({ perKeyCap: 100 });
  const used = new WeakSet<object>();
  const server: Server = createServer((request, response) => {
    // Every HTTP server may have closed a connection by the time it is used again; this one always has.
    if (used.has(request.socket)) return request.socket.destroy();
    used.add(request.socket);
    const reply = (status: number, body?: unknown): void => {
      response.writeHead(status, { "content-type": "application/json" });
      response.end(body === undefined ? undefined : JSON.stringify(body));
    };
    const origin = new URL(agent.url).origin;
    if (request.url === "/.well-known/brand.json")
      return reply(200, { agents: [{ url: agent.url, jwks_uri: `${origin}/keys` }] });
    if (request.url === "/keys") return reply(200, { keys: [published] });
    if (request.url !== "/mcp") return reply(404, {});
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const body = Buffer.concat(chunks);
      const message = JSON.parse(body.toString()) as JsonObject;
      if (trusted !== undefined) {
        const { method = "POST", headersDistinct: headers } = request;
        const keys = staticKeys({ keys: trusted }, { sender: "https://buyer.example" });
        const capability = { supported: true, required_for: ["create_media_buy"] };
        const revocation = {
          check: (keyid: string) => (keyid === "test-revoked-2026" ? "revoked" : "good") as "revoked" | "good",
        };
        const verdict = verifyRequestSync(
          { method, url: agent.url, headers, body },
          { keys, replay, word: "adcp", capability, revocation },
        );
        if (!verdict.ok) {
          response.setHeader("www-authenticate", `Signature error="${verdict.code}"`);
          return reply(verdict.status, {});
        }
      }
      if (message.id === undefined) return reply(202);
      reply(200, { jsonrpc: "2.0", id: message.id, result: agent.answer(message) });
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  agent.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`;
  const close = (): Promise<void> =>
    new Promise((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  return { url: agent.url, close };
}
