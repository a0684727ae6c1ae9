/**
 * Every kind of event of a release: built by the sender, held to the schemas as published, and verified and parsed by the
 * receiver.
 */
import { samplePayload } from "../../cli/event-sample.js";
import { answersLater, type JsonObject, type Release } from "../../runtime/contract/index.js";
import { type CataloguedEvent, eventCatalogue } from "../../runtime/facts/index.js";
import type { SchemaJudge } from "../support/schema-judge.js";
import { until } from "../support/until.js";
import { BUYER, type World } from "./world.js";

const HOUR_MS = 3_600_000;
const TOKEN = "a-token-of-sixteen-or-more";

/** Waits until all was sent and handled. */
async function settled({ sender, receiver }: World): Promise<void> {
  await until(async () => (await sender.outbox.counts()).waiting === 0, "the outbox is empty");
  await receiver.idle();
}

const registered = (route: string) => ({ url: `${BUYER}/${route}`, operation_id: "op-1", token: TOKEN });

/** Fields that the sender fills in itself. */
const own = ["idempotency_key", "notification_id", "notification_type", "fired_at", "subscriber_id", "account_id"];

const without = (body: JsonObject, names: readonly string[]): JsonObject =>
  Object.fromEntries(Object.entries(body).filter(([name]) => !names.includes(name)));

const notices = { artifact_webhook: "artifact", revocation_notification: "rights" } as const;

/** Has the sender build and send one event of a kind. */
async function fire(world: World, { kind, channels }: CataloguedEvent, payload: JsonObject): Promise<void> {
  const { sender } = world;
  const buy = { mediaBuyId: `buy of ${kind}`, principal: "buyer" };
  const [channel] = channels;
  switch (channel) {
    case "account":
    case "agent": {
      const config = { subscriber_id: "primary", url: `${BUYER}/${channel}`, event_types: [kind] };
      const account = channel === "account" ? { account: "acct-1" } : {};
      const synced = await sender.notifications.sync({ principal: "buyer", ...account }, [config]);
      if (!synced.ok || synced.configs[0]?.active !== true) throw new Error(`not active: ${JSON.stringify(synced)}`);
      await sender.notifications.notify({
        kind,
        ...account,
        // An event of a feed is one event under both of its names.
        ...(typeof payload.notification_id === "string" && { notificationId: payload.notification_id }),
        body: without(payload, own),
      });
      return;
    }
    case "reporting":
      return report(world, kind, payload);
    case "media-buy":
      await sender.channels.open(buy, { events: registered("impairment") });
      await sender.channels.impairment(buy.mediaBuyId, {
        notificationId: String(payload.impairment_id),
        eventType: "fraud",
        impairment: payload,
      });
      return;
    case "resource": {
      const notice = Object.hasOwn(notices, kind) ? notices[kind as keyof typeof notices] : "list_change";
      await sender.channels.subscribe(notice, { resource: kind, principal: "buyer" }, registered(notice));
      await sender.channels.notify(notice, kind, without(payload, ["idempotency_key"]));
      return;
    }
    case "task":
    case "challenge":
    case undefined:
      throw new Error(`${kind} is not fired by itself`);
  }
}

/** A report at its turn, as the data says; or one of those that have no turn. */
async function report(world: World, kind: string, payload: JsonObject): Promise<void> {
  const { sender, clock } = world;
  const mediaBuyId = `buy of ${kind}`;
  const data = {
    media_buy_deliveries: [],
    currency: "EUR",
    ...without(payload, ["reporting_period", "sequence_number"]),
  };
  world.reports = () => (kind === "delayed" ? { delayed: true, currency: "EUR" } : (data as never));
  const reporting = { ...registered("report"), reporting_frequency: "hourly" } as const;
  await sender.channels.open({ mediaBuyId, principal: "buyer" }, { reporting });
  if (kind === "adjusted" || kind === "window_update") {
    const period = { start: clock.at - HOUR_MS, end: clock.at };
    await sender.channels.adjusted(mediaBuyId, { ...(data as object), period, notificationType: kind } as never);
  } else if (kind === "final") await sender.channels.close(mediaBuyId);
  else clock.at += HOUR_MS;
  await sender.channels.tick();
  await settled(world);
  await sender.channels.open({ mediaBuyId, principal: "buyer" }, { reporting: null });
}

/** What is wrong with the last exchange, by the schemas as published and by the receiver. */
function faultOf({ release, judge, sent, seen }: World, { kind, schema, within }: CataloguedEvent): string | undefined {
  const last = sent.at(-1);
  if (last === undefined) return "nothing was sent";
  const { body, status } = last;
  const schemas: [string, unknown][] = [];
  const envelope = release.facts.events.task?.value.schema;
  if (within === "result" && envelope !== undefined) schemas.push([envelope, body]);
  schemas.push([schema, within === "result" ? body.result : body]);
  for (const [path, value] of schemas) {
    if (!judge.accepts(path, value) && !isUnlisted(release, path, body, judge))
      return `${path}: ${JSON.stringify(judge.errors().slice(0, 3))} ${JSON.stringify(body)}`;
  }
  if (status !== 200) return `the receiver answered ${status}`;
  const delivery = seen.at(-1);
  if (delivery?.idempotencyKey !== body.idempotency_key) return "the handler had another event";
  if (delivery?.event !== kind) return `the receiver took it for ${delivery?.event}`;
  return delivery.notes.length > 0 ? `noted: ${JSON.stringify(delivery.notes)}` : undefined;
}

/**
 * Some releases list fewer types of tasks than they have tools that answer later, and none for reports: what is not listed
 * is sent all the same, for a task's events are owed (docs/protocol/webhooks.md#events).
 */
function isUnlisted({ facts }: Release, schema: string, { task_type: type }: JsonObject, judge: SchemaJudge): boolean {
  const { task, taskTypes } = facts.events;
  const unlisted = schema === task?.value.schema && taskTypes?.value.includes(String(type)) === false;
  return unlisted && judge.errors().every(({ at, keyword }) => at === "/task_type" && keyword === "enum");
}

/** One cell for each kind that is sent by itself. */
export const kindsOf = (release: Pick<Release, "facts">): readonly CataloguedEvent[] =>
  eventCatalogue(release).events.filter(({ kind, channels }) => kind !== "task" && !channels.includes("challenge"));

/** @returns what is wrong with an event of a kind */
export async function judgeKind(world: World, event: CataloguedEvent): Promise<string | undefined> {
  const documents = await world.release.schemas();
  const payload = samplePayload(documents, event, (schema, value) => world.judge.accepts(schema, value));
  if (payload === undefined) return `no sample: ${JSON.stringify(world.judge.errors().slice(0, 3))}`;
  await fire(world, event, payload);
  await settled(world);
  return faultOf(world, event);
}

/** Tools whose answers may be told later. */
export const laterTools = ({ tools }: Release): readonly string[] =>
  Object.values(tools)
    .filter(answersLater)
    .map(({ name }) => name);

/** @returns what is wrong with the events of a tool's task: progress where there is any, then its end */
export async function judgeTask(world: World, tool: string): Promise<string | undefined> {
  const { release, sender, judge } = world;
  const documents = await release.schemas();
  const { arms } = release.tools[tool]!;
  const ref = (arms as Record<string, string | null>).completed;
  const entry = {
    kind: tool,
    schema: ref ?? "",
    fields: [],
    within: "body",
    channels: ["task"],
    order: "task",
  } as const;
  const result =
    ref == null || ref.includes("#")
      ? undefined
      : samplePayload(documents, { ...entry, identity: "idempotency_key", invalidation: false }, (schema, value) =>
          judge.accepts(schema, value),
        );
  const failed = { errors: [{ code: "INVALID_REQUEST", message: "No.", recovery: "correctable" }] };
  const ends = [
    { status: "failed", result: failed },
    ...(result === undefined ? [] : [{ status: "completed", result }]),
  ];
  for (const { status, result: end } of ends as { status: "failed" | "completed"; result: JsonObject }[]) {
    const taskId = `${tool} ${status}`;
    const start = { taskId, tool, status: "submitted", principal: "buyer" } as const;
    const taken = await sender.tasks.register(start, { push: registered("task") });
    if (!taken.ok) return JSON.stringify(taken);
    try {
      await sender.tasks.update(taskId, { status, result: end });
    } catch {
      // What the sample has of it is none of the tool's completed answers: an error's branch.
      continue;
    }
    await settled(world);
    const fault = faultOf(world, eventCatalogue(release).get("task")!);
    if (fault !== undefined) return `${status}: ${fault}`;
  }
  return undefined;
}
