/** Creative formats that are taken: the seller's, those of its products, and those a test has put there. */
import type { JsonObject } from "../../contract/index.js";
import { accountId } from "../accounts/accounts.js";
import type { BehaviourCall, BehaviourSettings } from "../frame/call.js";
import { collection } from "../frame/collection.js";
import type { CreativeFormat, FormatId } from "../ports/creatives.js";
import { formatFromId } from "../ports/example-formats.js";
import { builtFormats } from "./built.js";

const seeded = collection<CreativeFormat>("format");

/** Owner of formats of the account that a call names. */
const formatOwner = (call: BehaviourCall): string | undefined =>
  call.ctx.account === undefined ? undefined : `${call.principal}/${accountId(call, call.ctx.account)}`;

/** A format of the account's own: known to the caller, and what the account is shown. */
export function seedFormat(call: BehaviourCall, format: CreativeFormat): void {
  const owner = formatOwner(call);
  seeded.put(call, call.principal, format.id, format);
  if (owner !== undefined) seeded.put(call, owner, format.id, format);
}

/** What an account is shown: its own formats where it has any, else all that are offered. */
export async function formatsFor(call: BehaviourCall): Promise<readonly CreativeFormat[]> {
  const owner = formatOwner(call);
  const own = owner === undefined ? [] : await seeded.list(call, owner);
  return own.length > 0 ? own : offeredFormats(call);
}

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

export const shownFormat = (call: BehaviourCall, { id, more, ...rest }: CreativeFormat): JsonObject => ({
  format_id: formatId(call, id),
  ...rest,
  ...more,
});

export { formatFromId };
