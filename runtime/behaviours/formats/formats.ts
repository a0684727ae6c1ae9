/** Creative formats that are taken: the seller's, those of its products, and those a test has put there. */
import type { JsonObject } from "../../contract/index.js";
import { canonicalUrl } from "../../url.js";
import type { BehaviourCall, BehaviourSettings } from "../frame/call.js";
import { collection } from "../frame/collection.js";
import type { CreativeFormat, FormatId } from "../ports/creatives.js";
import { formatFromId, saidById } from "../ports/example-formats.js";
import { builtFormats } from "./built.js";
import { canonicalKind } from "./options.js";

const seeded = collection<CreativeFormat>("format");

/** A format of the caller's own, beside those that are offered. */
export const seedFormat = (call: BehaviourCall, format: CreativeFormat): void =>
  seeded.put(call, call.principal, format.id, format);

/** Formats of the seller's, whoever asks. */
export async function offeredFormats({ ports, served }: BehaviourSettings): Promise<CreativeFormat[]> {
  const own = await ports.creatives.formats();
  const rendered = served.has("transformers") ? await ports.transformers.formats() : [];
  return [...own, ...(served.has("building") ? builtFormats : []), ...rendered];
}

/** What is seeded is there beside the seller's own, and hides nothing. */
export function formatsOf(call: BehaviourCall): Promise<ReadonlyMap<string, CreativeFormat>> {
  return call.once("formats", async () => {
    const added = await seeded.list(call, call.principal);
    return new Map([...(await offeredFormats(call)), ...added].map((one) => [one.id, one]));
  });
}

/** The format's name everywhere: whose it is, and which. */
export const formatId = (
  { agentUrl }: Pick<BehaviourCall, "agentUrl">,
  { id, agent_url }: Pick<CreativeFormat, "id" | "agent_url">,
): FormatId => ({ agent_url: agent_url ?? agentUrl, id });

/** Agents are compared in the form that the specification has for URLs. */
const agentKey = (url: string): string => {
  const result = canonicalUrl(url, { unicodeHost: "convert" });
  return (result.ok ? result.url : url).replace(/\/+$/, "");
};

/** Whether two names are one format's. */
export const sameFormat = (a: FormatId, b: FormatId): boolean =>
  a.id === b.id && agentKey(a.agent_url) === agentKey(b.agent_url);

/** The format that is taken under this name; undefined where it is another agent's, or unknown. */
export async function takenFormat(call: BehaviourCall, named: FormatId): Promise<CreativeFormat | undefined> {
  const found = (await formatsOf(call)).get(named.id);
  return found !== undefined && sameFormat(formatId(call, found), named) ? found : undefined;
}

/** Formats by the ids that a product has for them; what is not listed is what its id says. */
export async function formatsNamed(call: BehaviourCall, ids: readonly string[]): Promise<CreativeFormat[]> {
  const known = await formatsOf(call);
  return ids.map((id) => known.get(id) ?? formatFromId(id));
}

/** A format as it is listed; which canonical one it is, is said where the release has those. */
export const shownFormat = (call: BehaviourCall, format: CreativeFormat): JsonObject => {
  const { id: _id, agent_url: _url, more, canonical: _, ...rest } = format;
  const kind = canonicalKind(format);
  return {
    format_id: formatId(call, format),
    ...rest,
    ...(call.shapes.canonical(kind) !== undefined && { canonical: { kind } }),
    ...more,
  };
};

export { formatFromId, saidById };
