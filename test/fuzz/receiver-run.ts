/**
 * Mutated requests against a receiver in this process: bytes of the body, header fields, request line, and fields of
 * bodies that are signed again. Nothing may throw or be a 5xx, and nothing may be accepted but what its sender signed.
 */
import { createHmac, hash, type KeyObject, sign } from "node:crypto";
import fc from "fast-check";
import type { ReceiverAnswer, ReceiverRequest } from "../../runtime/receiver/index.js";
import { memoryReplayStore, signWebhook, verifyWebhook } from "../../runtime/signing/index.js";
import type { Arrival, Store } from "../../runtime/store/types.js";
import {
  envelope,
  keysOf,
  PUBLIC_URL,
  SECRET,
  SELLER,
  type Setup,
  START_MS,
  sellerKey,
  setup,
  TOKEN,
} from "../support/receiver.js";

/** Requests handled at once: they share commits, as they would on a busy server. */
const BATCH = 64;
const NOW_SECONDS = START_MS / 1000;

/** A request as it was signed. */
interface Original {
  readonly mode: "signature" | "HMAC-SHA256" | "Bearer";
  readonly target: string;
  readonly fields: readonly (readonly [string, string])[];
  readonly body: Uint8Array;
  readonly base: string;
}

type Fields = [string, string][];

/** One step away from the original. `at` is a place as a fraction of what it is applied to. */
type Mutation =
  | { type: "none" }
  | { type: "body"; signed: boolean; op: "flip" | "insert" | "delete" | "cut" | "double"; at: number; byte: number }
  | {
      type: "field";
      op: "drop" | "double" | "case" | "pad" | "replace" | "append" | "flip";
      at: number;
      text: string;
      byte: number;
    }
  | { type: "line"; method?: string; target?: string }
  | { type: "member"; name: string; value: unknown };

export interface Report {
  readonly count: number;
  readonly seed: number;
  readonly statuses: Record<string, number>;
  readonly seconds: number;
}

/** Evenly spread; `fc.double` is spread over what doubles can tell apart, nearly all of it at the ends. */
const fraction = fc.nat(999_999).map((n) => n / 1_000_000);
const byte = fc.nat(255);
const text = fc.oneof(
  fc.string({ maxLength: 12 }),
  fc.constantFrom(
    "",
    " ",
    ",",
    ";",
    '"',
    "sig1=()",
    "sig2=:AAAA:",
    "application/json",
    "sha-256=:AAAA:",
    "0",
    "-1",
    "é",
    "\t",
    "%00",
  ),
);
const members = [
  ...["idempotency_key", "task_id", "task_type", "status", "timestamp", "operation_id", "token", "result", "context"],
  ...["message", "notification_id", "__proto__", "constructor", "id", "task", "statusUpdate", "artifacts", "metadata"],
];
const oddValue = fc.oneof(
  fc.jsonValue({ maxDepth: 3 }),
  fc.string({ unit: "binary", maxLength: 300 }),
  fc.constantFrom(
    null,
    "\u0000",
    "\ud800",
    "completed",
    "op-1",
    "9999-12-31T23:59:60Z",
    { state: "completed" },
    [],
    {},
  ),
);

const mutation: fc.Arbitrary<Mutation> = fc.oneof(
  { weight: 1, arbitrary: fc.constant<Mutation>({ type: "none" }) },
  {
    weight: 6,
    arbitrary: fc.record({
      type: fc.constant("body" as const),
      // One in four is signed afterwards: what an authenticated sender may send.
      signed: fc.nat(3).map((n) => n === 0),
      op: fc.constantFrom("flip" as const, "insert" as const, "delete" as const, "cut" as const, "double" as const),
      at: fraction,
      byte,
    }),
  },
  {
    weight: 8,
    arbitrary: fc.record({
      type: fc.constant("field" as const),
      op: fc.constantFrom(...(["drop", "double", "case", "pad", "replace", "append", "flip"] as const)),
      at: fraction,
      text,
      byte,
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      type: fc.constant("line" as const),
      method: fc.constantFrom("POST", "post", "GET", "", "PUT"),
      target: fc.oneof(
        fc.webPath(),
        fc.string({ maxLength: 20 }),
        fc.constantFrom("/hooks/s?", "/hooks/%73", "/hooks/./s", "//", "*"),
      ),
    }),
  },
  {
    weight: 5,
    arbitrary: fc.record({ type: fc.constant("member" as const), name: fc.constantFrom(...members), value: oddValue }),
  },
);

const script = fc.record({ which: fraction, steps: fc.array(mutation, { minLength: 1, maxLength: 3 }) });
type Script = { which: number; steps: Mutation[] };

const pick = <T>(list: readonly T[], at: number): T => list[Math.floor(at * list.length)]!;

function mutateBody(body: Uint8Array, { op, at, byte: value }: Extract<Mutation, { type: "body" }>): Uint8Array {
  const place = Math.floor(at * body.length);
  const [before, after] = [body.subarray(0, place), body.subarray(place)];
  switch (op) {
    case "flip":
      return Buffer.concat([before, Buffer.from([(after[0] ?? 0) ^ (value || 1)]), after.subarray(1)]);
    case "insert":
      return Buffer.concat([before, Buffer.from([value]), after]);
    case "delete":
      return Buffer.concat([before, after.subarray(1 + (value % 8))]);
    case "cut":
      return before;
    case "double":
      return Buffer.concat([body, after]);
  }
}

function mutateFields(
  fields: Fields,
  { op, at, text: added, byte: value }: Extract<Mutation, { type: "field" }>,
): Fields {
  const place = Math.floor(at * fields.length);
  const held = fields[place];
  if (held === undefined) return [["x", added]];
  const [name, content] = held;
  const put = (...others: Fields): Fields => [...fields.slice(0, place), ...others, ...fields.slice(place + 1)];
  const inside = Math.floor(((value + at) / 257) * content.length);
  switch (op) {
    case "drop":
      return put();
    case "double":
      return put(held, [name, added === "" ? content : added]);
    case "case":
      return put([value % 2 ? name.toUpperCase() : name.toLowerCase(), content]);
    case "pad":
      return put([name, ` ${content}\t`]);
    case "replace":
      return put([name, added]);
    case "append":
      return put([name, `${content}${added}`]);
    case "flip":
      return put([name, content.slice(0, inside) + String.fromCharCode(value) + content.slice(inside + 1)]);
  }
}

interface Mutated {
  method: string;
  target: string;
  fields: Fields;
  body: Uint8Array;
  /** What the sender signed last: members, and some bytes, change before signing, everything else after. */
  original: Original;
}

function mutate(fuzz: Fuzz, { which, steps }: Script): Mutated {
  let original = pick(fuzz.originals, which);
  const changed = steps.filter((step) => step.type === "member");
  const rewritten = steps.filter((step) => step.type === "body" && step.signed) as Extract<
    Mutation,
    { type: "body" }
  >[];
  if (changed.length > 0) {
    const value = JSON.parse(Buffer.from(original.body).toString()) as Record<string, unknown>;
    for (const { name, value: odd } of changed)
      Object.defineProperty(value, name, { value: odd, enumerable: true, configurable: true, writable: true });
    original = fuzz.sign(original.mode, original.target, Buffer.from(JSON.stringify(value)));
  }
  if (rewritten.length > 0)
    original = fuzz.sign(original.mode, original.target, rewritten.reduce(mutateBody, original.body));
  const made: Mutated = {
    ...{ method: "POST", target: original.target, body: original.body, original },
    fields: original.fields.map(([name, value]) => [name, value]),
  };
  for (const step of steps) {
    if (step.type === "body" && !step.signed) made.body = mutateBody(made.body, step);
    if (step.type === "field") made.fields = mutateFields(made.fields, step);
    if (step.type === "line") Object.assign(made, { method: step.method, target: step.target });
  }
  return made;
}

interface Fuzz {
  readonly s: Setup;
  readonly keys: ReturnType<typeof keysOf>;
  readonly originals: readonly Original[];
  sign(mode: Original["mode"], target: string, body: Uint8Array): Original;
}

/** Signs whatever bytes it is given; the project's own signer refuses what is not strict JSON. */
const signer =
  (key: KeyObject, template: { base: string; input: string; digest: string }) =>
  (mode: Original["mode"], target: string, body: Uint8Array): Original => {
    const type = ["Content-Type", "application/json"] as const;
    if (mode === "Bearer")
      return { mode, target, body, base: "", fields: [type, ["Authorization", `Bearer ${TOKEN}`]] };
    if (mode === "HMAC-SHA256") {
      const mac = createHmac("sha256", SECRET).update(`${NOW_SECONDS}.`).update(body).digest("hex");
      const fields = [
        type,
        ["X-Proto-Timestamp", String(NOW_SECONDS)],
        ["X-Proto-Signature", `sha256=${mac}`],
      ] as const;
      return { mode, target, body, base: "", fields };
    }
    const digest = `sha-256=:${hash("sha256", body, "base64url")}:`;
    const base = template.base.replace(template.digest, digest);
    const signature = sign(null, Buffer.from(base), key).toString("base64url");
    const signed = [
      ["Content-Digest", digest],
      ["Signature-Input", template.input],
      ["Signature", `sig1=:${signature}:`],
    ] as const;
    return { mode, target, body, base, fields: [["Host", "hooks.buyer.example"], type, ...signed] };
  };

/** A receiver whose nonces never run out: a valid mutation of a request is to be seen, not masked as a replay. */
async function prepare(): Promise<Fuzz> {
  const key = sellerKey();
  const config = { keys: keysOf(SELLER, key), hmac: { current: SECRET }, bearer: { current: TOKEN } };
  const made = await setup();
  const { inbox } = made.store;
  const store: Store<never> = Object.create(made.store, {
    replay: { value: () => ({ atCap: () => false, insert: () => "inserted" }) },
    inbox: {
      value: Object.create(inbox, { accept: { value: ({ nonce: _, ...rest }: Arrival) => inbox.accept(rest) } }),
    },
  });
  const s = { ...(await setup({ store, senderConfig: config })), store: made.store };
  const routes = { "/hooks/s": "signature", "/hooks/h": "HMAC-SHA256", "/hooks/b": "Bearer" } as const;
  for (const [route, mode] of Object.entries(routes)) {
    await s.receiver.expect({ route, sender: SELLER, kind: "task", mode, operationId: "op-1" });
  }
  await s.receiver.expect({ route: "/hooks/s2", sender: SELLER, kind: "task", format: "a2a" });
  const plain = Buffer.from("{}");
  const signOne = async (target: string) => {
    const request = { method: "POST", url: PUBLIC_URL + target, headers: {}, body: plain };
    const { headers, signatureBase } = await signWebhook(request, {
      key: key.privateKey,
      keyid: key.keyid,
      now: () => NOW_SECONDS,
    });
    return { base: signatureBase, input: headers["Signature-Input"], digest: headers["Content-Digest"]! };
  };
  const templates = { "/hooks/s": await signOne("/hooks/s"), "/hooks/s2": await signOne("/hooks/s2") };
  const signIt: Fuzz["sign"] = (mode, target, body) =>
    signer(key.privateKey as KeyObject, templates[target as "/hooks/s"] ?? templates["/hooks/s"])(mode, target, body);
  const bytes = (task_id: string) => Buffer.from(JSON.stringify(envelope({ task_id })));
  const a2a = { id: "t-2", status: { state: "completed" }, artifacts: [{ parts: [{ data: { a: 1 } }] }] };
  return {
    s: { ...s, close: () => s.close().then(made.close) },
    keys: config.keys,
    sign: signIt,
    originals: [
      ...[0, 1, 2, 3].map((i) => signIt("signature", "/hooks/s", bytes(`t-${i}`))),
      signIt("signature", "/hooks/s2", Buffer.from(JSON.stringify(a2a))),
      signIt("HMAC-SHA256", "/hooks/h", bytes("t-h")),
      signIt("Bearer", "/hooks/b", bytes("t-b")),
    ],
  };
}

const requestOf = ({ method, target, fields, body }: Mutated): ReceiverRequest => ({
  method,
  target,
  headers: fields,
  body,
});

/** What is wrong with the answer to a mutated request; undefined when nothing is. */
async function verdict(fuzz: Fuzz, made: Mutated, answer: ReceiverAnswer): Promise<string | undefined> {
  if (answer.status >= 500 || answer.status < 200) return `status ${answer.status}`;
  const parsed = JSON.parse(answer.body);
  if (answer.status !== 200) return typeof parsed.error === "string" ? undefined : "a refusal without its code";
  const { original } = made;
  // Bearer protects the credential alone (service.md, "Legacy Bearer").
  if (original.mode === "Bearer") return undefined;
  if (Buffer.compare(made.body, original.body) !== 0) return "accepted with another body";
  if (made.method !== "POST" || made.target !== original.target) return "accepted for another target";
  if (original.mode === "HMAC-SHA256") return undefined;
  const again = await verifyWebhook(
    { method: made.method, url: PUBLIC_URL + made.target, headers: made.fields, body: made.body },
    { keys: fuzz.keys, replay: memoryReplayStore(), now: () => NOW_SECONDS },
  );
  if (!again.ok) return `accepted, and refused when asked again: ${again.code}`;
  return again.signatureBase === original.base ? undefined : "accepted over another signature base";
}

/**
 * Sends mutated requests.
 * @param count how many
 * @param seed repeats a run
 */
export async function runFuzz(count: number, seed: number): Promise<Report> {
  const started = performance.now();
  const fuzz = await prepare();
  const statuses: Record<string, number> = {};
  const crashes: unknown[] = [];
  let wrong: string | undefined;
  const crash = (error: unknown): void => void crashes.push(error);
  process.on("unhandledRejection", crash).on("uncaughtException", crash);
  try {
    await fc.assert(
      fc.asyncProperty(fc.array(script, { minLength: BATCH, maxLength: BATCH, size: "max" }), async (scripts) => {
        const made = scripts.map((one) => mutate(fuzz, one));
        const answers = await Promise.all(made.map((one) => fuzz.s.receiver.handle(requestOf(one))));
        for (const [i, answer] of answers.entries()) {
          const name = `${answer.status} ${answer.status === 200 ? JSON.parse(answer.body).status : JSON.parse(answer.body).error}`;
          statuses[name] = (statuses[name] ?? 0) + 1;
          const found = await verdict(fuzz, made[i]!, answer);
          if (found === undefined) continue;
          // One script says it all; fast-check would print the whole batch.
          wrong = `${found}: ${JSON.stringify(scripts[i])}`;
          throw new Error(wrong);
        }
        if (crashes.length > 0) throw crashes[0];
      }),
      { numRuns: Math.ceil(count / BATCH), seed, endOnFailure: true },
    );
    await fuzz.s.receiver.idle();
  } catch (error) {
    if (wrong !== undefined) throw new Error(`seed ${seed}: ${wrong}`);
    throw error;
  } finally {
    process.off("unhandledRejection", crash).off("uncaughtException", crash);
    await fuzz.s.close();
  }
  return { count: Math.ceil(count / BATCH) * BATCH, seed, statuses, seconds: (performance.now() - started) / 1000 };
}
