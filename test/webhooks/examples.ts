/** The examples that a release's schemas of webhooks carry, through the receiver. */
import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import path from "node:path";
import { isJsonObject, type JsonObject } from "../../runtime/contract/index.js";
import { type CataloguedEvent, eventCatalogue } from "../../runtime/facts/index.js";
import { signWebhook } from "../../runtime/signing/index.js";
import type { World } from "./world.js";

const routeOf = ({ kind, channels: [channel] }: CataloguedEvent): string => {
  if (channel === "challenge") return "/account";
  if (channel === "media-buy") return "/impairment";
  if (channel === "reporting") return "/report";
  if (channel !== "resource") return `/${channel}`;
  return kind === "artifact_webhook" ? "/artifact" : kind === "revocation_notification" ? "/rights" : "/list_change";
};

/** Examples of a schema's file; some stand in `data`, with a description beside it. */
function examplesIn(folder: string, schema: string): JsonObject[] {
  const { examples } = JSON.parse(readFileSync(path.join(folder, schema), "utf8")) as JsonObject;
  return (Array.isArray(examples) ? examples : []).map((one) => (isJsonObject(one.data) ? one.data : one));
}

async function post({ receiver, signer, clock, release }: World, route: string, body: JsonObject) {
  const bytes = Buffer.from(JSON.stringify(body));
  const url = `https://buyer.example${route}`;
  const { headers } = await signWebhook(
    { method: "POST", url, headers: {}, body: bytes },
    { ...signer, now: () => Math.floor(clock.at / 1000), word: release.word },
  );
  return receiver.handle({
    method: "POST",
    target: route,
    headers: { host: "buyer.example", ...headers },
    body: bytes,
  });
}

/** An example that the release's own schema of its tool's answers refuses: published before that had grown. */
function isStale({ judge, release }: World, { task_type: type, status, result }: JsonObject): boolean {
  const arms = release.tools[String(type)]?.arms as Record<string, string | null> | undefined;
  const schema = arms?.[String(status)];
  return schema != null && !judge.accepts(schema, { status, ...(isJsonObject(result) ? result : {}) });
}

/** One example. @returns what is wrong */
async function judgeExample(world: World, event: CataloguedEvent, example: JsonObject): Promise<string | undefined> {
  if (event.channels.includes("challenge")) {
    const answer = await post(world, routeOf(event), example);
    const said = JSON.parse(answer.body) as JsonObject;
    return answer.status === 200 && said.challenge === example.challenge ? undefined : `answered ${answer.body}`;
  }
  // Examples share their keys and tasks, and each is to be an event of its own.
  const body = {
    ...example,
    idempotency_key: randomUUID(),
    ...("task_id" in example && { task_id: randomUUID() }),
    ...("change_id" in example && { change_id: randomUUID() }),
  };
  const answer = await post(world, routeOf(event), body);
  await world.receiver.idle();
  if (answer.status === 400 && isStale(world, example)) return undefined;
  if (answer.status !== 200) return `answered ${answer.status} ${answer.body}`;
  const delivery = world.seen.at(-1);
  if (delivery?.idempotencyKey !== body.idempotency_key) return "no handler had it";
  if (event.kind === "task") return undefined;
  return delivery.event === example.notification_type ? undefined : `taken for ${delivery.event}`;
}

/** @returns what is wrong with the examples of a release, and how many there are */
export async function judgeExamples(world: World, folder: string): Promise<{ faults: string[]; count: number }> {
  const faults: string[] = [];
  let count = 0;
  const events = eventCatalogue(world.release).events;
  const bySchema = new Map(events.map((event) => [event.schema, event]));
  for (const [schema, event] of bySchema) {
    for (const [at, example] of examplesIn(folder, schema).entries()) {
      count += 1;
      const fault = await judgeExample(world, event, example);
      if (fault !== undefined) faults.push(`example ${at} of ${schema}: ${fault}`);
    }
  }
  return { faults, count };
}
