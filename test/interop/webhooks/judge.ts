/** Runs the events of releases against the official Python SDK: ours to its receiver, and its own to ours. */
import { randomUUID } from "node:crypto";
import path from "node:path";
import type { Totals } from "../../../cli/closing-line.js";
import type { JsonObject } from "../../../runtime/contract/index.js";
import { type CataloguedEvent, eventCatalogue } from "../../../runtime/facts/index.js";
import { publishedReleases } from "../../support/corpus.js";
import { judgeKind, judgeTask, kindsOf, laterTools } from "../../webhooks/kinds.js";
import { type Exchange, openWorld, type World } from "../../webhooks/world.js";
import { preparePython, type Talk, talkPython } from "../signing/python.js";
import { differenceOf } from "./differences.js";

interface Counted {
  passed: number;
  failed: number;
  skipped: number;
  known: number;
}

/** Kinds that the SDK's receiver is made for, by its own words; it has models of the others. */
const receivers: Readonly<Record<string, string>> = {
  artifact_webhook: "artifact",
  revocation_notification: "revocation_notification",
  collection_list_changed: "collection_list_changed",
  property_list_changed: "property_list_changed",
};

const kindOf = ({ kind, within }: CataloguedEvent): string | undefined =>
  within === "result" || kind === "task" ? "mcp" : receivers[kind];

class Judging {
  constructor(
    private readonly world: World,
    private readonly talk: Talk,
    private readonly totals: Counted,
    private readonly name: string,
  ) {}

  async count(what: string, fault: string | undefined): Promise<void> {
    const known = fault === undefined ? undefined : await differenceOf(this.world.release, what, fault);
    if (fault === undefined) this.totals.passed++;
    else if (known !== undefined) {
      this.totals.known++;
      console.log(`known: ${this.name} ${what}: ${known}`);
    } else {
      this.totals.failed++;
      console.log(`FAILED: ${this.name} ${what}: ${fault}`);
    }
  }

  /** What we sent last, at the peer. */
  async ours(event: CataloguedEvent, exchange: Exchange): Promise<string | undefined> {
    const { headers, bytes, url, at } = exchange;
    const kind = kindOf(event);
    const request = { method: "POST", url, headers, body: new TextDecoder().decode(bytes) };
    const asked = { request, key: this.world.jwk, at, scope: this.name };
    const answer = await (kind === undefined
      ? this.talk({ do: "parse", schema: event.schema, ...asked })
      : this.talk({ do: "receive", kind, ...asked }));
    return answer.ok ? undefined : String(answer.reason);
  }

  /** The same body, built and signed by the peer, at ours. */
  async theirs({ kind }: CataloguedEvent, { url, body }: Exchange): Promise<string | undefined> {
    const given = { ...body, idempotency_key: randomUUID(), ...("task_id" in body && { task_id: randomUUID() }) };
    const answer = await this.talk({ do: "send", what: "raw", url, given, key: this.world.privateJwk });
    if (!answer.ok) return `not sent: ${answer.reason}`;
    return this.arrives(answer.request as JsonObject, kind);
  }

  async challenge(): Promise<string | undefined> {
    const given = { account_id: "acct-1", subscriber_id: "primary", challenge: "c".repeat(40) };
    const url = "https://buyer.example/account";
    const answer = await this.talk({ do: "send", what: "challenge", url, given, key: this.world.privateJwk });
    if (!answer.ok) return `not sent: ${answer.reason}`;
    const said = await this.handle(answer.request as JsonObject);
    return said.status === 200 && said.body === JSON.stringify({ challenge: given.challenge }) ? undefined : said.body;
  }

  private handle(request: JsonObject) {
    const { url, headers, body } = request as { url: string; headers: Record<string, string>; body: string };
    this.world.clock.at = Date.now();
    return this.world.receiver.handle({
      method: "POST",
      target: new URL(url).pathname,
      headers,
      body: new TextEncoder().encode(body),
    });
  }

  private async arrives(request: JsonObject, kind: string): Promise<string | undefined> {
    const answer = await this.handle(request);
    if (answer.status !== 200) return `answered ${answer.status} ${answer.body}`;
    await this.world.receiver.idle();
    const delivery = this.world.seen.at(-1);
    return delivery?.event === kind ? undefined : `taken for ${delivery?.event}`;
  }
}

async function judgeRelease(folder: string, talk: Talk, totals: Counted): Promise<void> {
  const name = path.basename(folder);
  const world = await openWorld(folder);
  const judging = new Judging(world, talk, totals, name);
  const before = totals.passed;
  const both = async (what: string, event: CataloguedEvent, exchanges: readonly Exchange[]): Promise<void> => {
    for (const exchange of exchanges) {
      await judging.count(`${what}: we send, the peer receives`, await judging.ours(event, exchange));
      await judging.count(`${what}: the peer sends, we receive`, await judging.theirs(event, exchange));
    }
  };
  try {
    for (const event of kindsOf(world.release)) {
      const from = world.sent.length;
      await judging.count(`${event.kind}: between ourselves`, await judgeKind(world, event));
      const exchanges = world.sent.slice(from).filter(({ body }) => body.type !== "webhook.challenge");
      await both(event.kind, event, exchanges.slice(-1));
    }
    const task = eventCatalogue(world.release).get("task");
    for (const tool of task === undefined ? [] : laterTools(world.release)) {
      const from = world.sent.length;
      await judging.count(`task of ${tool}: between ourselves`, await judgeTask(world, tool));
      await both(`task of ${tool}`, task!, world.sent.slice(from));
    }
    await judging.count("webhook.challenge: the peer asks, we answer", await judging.challenge());
  } finally {
    await world.close();
  }
  console.log(`${name}: ${totals.passed - before} events believed and parsed, both ways`);
}

/** @param folders paths of releases; all of the corpus by default */
export async function judgeWebhooks(folders = publishedReleases()): Promise<Totals> {
  const skipped = (why: string): Totals => {
    console.log(`skipped: ${why}`);
    return { passed: 0, failed: 0, skipped: 1 };
  };
  if (folders.length === 0) return skipped("no published releases to send the events of; set ADBIND_CORPUS");
  const missing = preparePython();
  if (missing !== undefined) return skipped(missing);
  const peer = await talkPython(path.join(import.meta.dirname, "peer.py"));
  const totals = { passed: 0, failed: 0, skipped: 0, known: 0 };
  try {
    console.log(`peer: ${peer.name}`);
    for (const folder of folders) await judgeRelease(folder, peer.ask, totals);
  } finally {
    await peer.close();
  }
  return totals;
}
