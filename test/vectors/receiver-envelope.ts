/** Bodies that a receiver takes, and those it refuses before anything is dispatched. */
import { existsSync } from "node:fs";
import path from "node:path";
import { readEnvelope } from "../../runtime/receiver/envelope.js";
import { readJson } from "../signing/corpus.js";
import { START_MS } from "../support/receiver.js";
import type { Folder, VectorGroup } from "./types.js";

interface EnvelopeCase {
  readonly id: string;
  readonly payload: unknown;
  readonly same_event_as?: string;
  readonly expected_error?: string;
}

export function receiverEnvelope(folder: Folder): VectorGroup[] {
  const file = path.join(folder.at, "webhook-receiver-envelope.json");
  if (!existsSync(file)) return [];
  const { positive, negative } = readJson(file) as { positive: EnvelopeCase[]; negative: EnvelopeCase[] };
  const read = ({ payload }: EnvelopeCase) =>
    readEnvelope(payload, { kind: "task", format: null, now: START_MS, raw: Buffer.from(JSON.stringify(payload)) });
  const keyOf = (one: EnvelopeCase): string | undefined => {
    const result = read(one);
    return result.ok ? result.envelope.key : undefined;
  };
  const cases = [...positive, ...negative].map((one) => ({
    name: one.id,
    async run() {
      const result = read(one);
      if (!result.ok) return result.code === one.expected_error ? undefined : `refused with ${result.code}`;
      if (one.expected_error !== undefined) return "taken";
      const first = positive.find(({ id }) => id === one.same_event_as);
      return first === undefined || keyOf(first) === result.envelope.key ? undefined : "a retry has another key";
    },
  }));
  return [{ release: folder.label, suite: "webhook-receiver-envelope", group: "envelope", cases }];
}
