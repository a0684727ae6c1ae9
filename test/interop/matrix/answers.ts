/** What the sellers of the matrix answer: the corpus's payload where it has one, else the smallest that the release takes. */
import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { Sampler } from "../../../runtime/conformance/check/sample.js";
import type { JsonObject, Release } from "../../../runtime/contract/index.js";
import type { AnyValidator } from "../../../runtime/validate/types.js";
import { corpus } from "../../support/corpus.js";

/** One line of the protocol: its newest release in the corpus, its judge, and what a seller of it says. */
export interface Line {
  /** As buyers pin it. */
  readonly name: string;
  readonly release: Release;
  readonly validator: AnyValidator;
  /** The completed answer of a tool. */
  answer(tool: string): JsonObject;
  /** A request for a tool that the release takes, with other members laid over it. */
  request(tool: string, over?: JsonObject): JsonObject;
}

interface Payload {
  readonly tool: string;
  readonly direction: "request" | "response";
  readonly payload: JsonObject;
}

/** As the corpus's payloads name who buys and for whom. */
const account = { brand: { domain: "acmeoutdoor.example" }, operator: "pinnacle-agency.example" };
const flight = { start_time: "2099-04-01T00:00:00Z", end_time: "2099-06-30T23:59:59Z" };

/** What makes an answer one of its kind, where the smallest one would be empty; names that the release lacks are left out. */
const marks: Readonly<Record<string, JsonObject>> = {
  create_media_buy: {
    media_buy_id: "mb_1",
    media_buy_status: "active",
    confirmed_at: "2026-11-01T00:00:00Z",
    revision: 1,
    packages: [{ package_id: "pkg_1" }],
  },
  update_media_buy: { media_buy_id: "mb_1", revision: 2 },
  sync_creatives: { creatives: [{ creative_id: "creative_1", action: "created" }] },
  get_media_buys: { media_buys: [] },
  get_media_buy_delivery: {
    media_buy_deliveries: [
      {
        media_buy_id: "mb_1",
        status: "active",
        totals: { impressions: 1_000, spend: 25, effective_rate: 25 },
        by_package: [],
      },
    ],
  },
};

const requests: Readonly<Record<string, JsonObject>> = {
  get_products: { buying_mode: "brief", brief: "Display inventory on outdoor lifestyle content.", account },
  create_media_buy: { account, brand: account.brand, ...flight },
  update_media_buy: { account, media_buy_id: "mb_1", paused: true },
  sync_creatives: { account },
  get_media_buy_delivery: { account, media_buy_ids: ["mb_1"] },
};

const payloadsOf = (version: string): Payload[] => {
  const file = path.join(corpus, "payloads", `${version}.json`);
  return existsSync(file) ? JSON.parse(readFileSync(file, "utf8")) : [];
};

export async function lineOf(release: Release, validator: AnyValidator): Promise<Line> {
  const sampler = new Sampler(await release.schemas());
  const payloads = payloadsOf(release.version);
  const arm = (tool: string): string => (release.tools[tool]!.arms as { completed: string }).completed;
  const takes = (tool: string, body: JsonObject): boolean => validator.arm(tool, "completed", body).ok;
  /** The first sample that is taken with its members replaced. */
  const made = (tool: string, marked: JsonObject): JsonObject => {
    for (const sample of sampler.requests(arm(tool))) {
      const { status: _, task_id: _id, ...rest } = sample;
      const body = { ...rest, ...marked, status: "completed" };
      const bare = { ...rest, ...marked };
      if (takes(tool, body)) return bare;
      if (takes(tool, bare)) return bare;
    }
    throw new Error(`no answer of ${tool} could be made for ${release.version}`);
  };
  const products = (): JsonObject => {
    const published = payloads.find(
      ({ tool, direction, payload }) =>
        tool === "get_products" && direction === "response" && Array.isArray(payload.products),
    );
    if (published !== undefined) return published.payload;
    for (const product of sampler.requests("core/product.json")) {
      const body = made("get_products", { products: [{ ...product, product_id: "premium_millennial_mobile" }] });
      if (takes("get_products", { ...body, status: "completed" })) return body;
    }
    throw new Error(`no product could be made for ${release.version}`);
  };
  const kept = new Map<string, JsonObject>();
  return {
    name: release.version.replace(/^(\d+\.\d+)\.\d+/, "$1"),
    release,
    validator,
    answer(tool) {
      const known = kept.get(tool) ?? (tool === "get_products" ? products() : made(tool, marks[tool] ?? {}));
      kept.set(tool, known);
      const { status: _, ...body } = known;
      return body;
    },
    request(tool, over = {}) {
      const found = payloads.find((one) => one.tool === tool && one.direction === "request");
      const {
        idempotency_key: _key,
        context: _context,
        push_notification_config: _push,
        ...base
      } = found?.payload ?? {};
      return { ...(tool === "sync_creatives" ? base : {}), ...requests[tool], ...over };
    },
  };
}
