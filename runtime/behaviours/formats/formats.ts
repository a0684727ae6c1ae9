/** Creative formats that are taken: the seller's, those of its products, and those a test has put there. */
import type { JsonObject } from "../../contract/index.js";
import type { BehaviourCall, BehaviourSettings } from "../frame/call.js";
import { collection } from "../frame/collection.js";
import type { CreativeFormat, FormatId } from "../ports/creatives.js";
import { formatFromId } from "../ports/example-formats.js";
import { builtFormats } from "./built.js";
import { canonicalKind } from "./options.js";

const seeded = collection<CreativeFormat>("format");

/** A format of the caller's own, beside those that are offered. */
export const seedFormat = (call: BehaviourCall, format: CreativeFormat): void =>
  seeded.put(call, call.principal, format.id, format);

/** Formats of the seller's, whoever asks. */
export async function offeredFormats({ ports, served }: BehaviourSettings): Promise<CreativeFormat[]> {
  const own = await ports.creatives.formats();
  return [...own, ...(served.has("building") ? builtFormats : [])];
}

/** What is seeded is there beside the seller's own, and hides nothing. */
export function formatsOf(call: BehaviourCall): Promise<ReadonlyMap<string, CreativeFormat>> {
  return call.once("formats", async () => {
    const added = await seeded.list(call, call.principal);
    return new Map([...(await offeredFormats(call)), ...added].map((one) => [one.id, one]));
  });
}

/** The format's name everywhere: whose it is, and which. */
export const formatId = (call: BehaviourCall, id: string): FormatId => ({ agent_url: call.agentUrl, id });

/** A format as it is listed; which canonical one it is, is said where the release has those. */
export const shownFormat = (call: BehaviourCall, format: CreativeFormat): JsonObject => {
  const { id, more, canonical: _, ...rest } = format;
  const kind = canonicalKind(format);
  return {
    format_id: formatId(call, id),
    ...rest,
    ...(call.shapes.canonical(kind) !== undefined && { canonical: { kind } }),
    ...more,
  };
};

export { formatFromId };
