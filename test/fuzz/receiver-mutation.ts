/** Mutations of requests: of body bytes, header fields, request line, and fields of bodies that are signed again. */
import fc from "fast-check";

/** A request as it was signed. */
export interface Original {
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

export const script = fc.record({ which: fraction, steps: fc.array(mutation, { minLength: 1, maxLength: 3 }) });
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

/** What there is to mutate, and how a body changed before signing is signed. */
export interface Signer {
  readonly originals: readonly Original[];
  sign(mode: Original["mode"], target: string, body: Uint8Array): Original;
}

export interface Mutated {
  method: string;
  target: string;
  fields: Fields;
  body: Uint8Array;
  /** What the sender signed last: members, and some bytes, change before signing, everything else after. */
  original: Original;
}

export function mutate(fuzz: Signer, { which, steps }: Script): Mutated {
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
