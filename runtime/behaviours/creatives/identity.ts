/**
 * What a creative is made for, as the release of a call says it: by the name of a format, or by a canonical kind. What a caller of
 * one release uploads, callers of another list: a name is told as its kind to who would not expect a name, and a kind as a name to
 * who knows nothing else. Callers whose release has both get what they sent.
 */
import type { JsonObject } from "../../contract/index.js";
import { formatId, formatsNamed, formatsOf, sameFormat } from "../formats/formats.js";
import { canonicalKind } from "../formats/options.js";
import type { BehaviourCall } from "../frame/call.js";
import type { Creative } from "../library/creatives.js";

/** The caller of an upload could not have said it otherwise. */
export const knowsNames = ({ shapes }: BehaviourCall): boolean =>
  !shapes.request("sync_creatives").has("creatives", "*", "format_kind");

/** @returns members of a creative as it is listed */
export async function identityShown(call: BehaviourCall, { format_id, byName, more }: Creative): Promise<JsonObject> {
  const listed = call.shapes.answer("list_creatives");
  const hasKinds = listed.has("creatives", "*", "format_kind");
  if (format_id !== undefined) {
    if (byName !== true || !hasKinds) return { format_id };
    const [format] = await formatsNamed(call, [format_id.id]);
    if (format === undefined || !sameFormat(formatId(call, format), format_id)) return { format_id };
    const format_option_ref = { scope: "product", format_option_id: format.id };
    return { format_kind: canonicalKind(format), format_option_ref };
  }
  if (hasKinds) return {};
  const option = (more?.format_option_ref as { format_option_id?: string } | undefined)?.format_option_id;
  const [named] = option === undefined ? [] : await formatsNamed(call, [option]);
  const { format_kind: kind } = (more ?? {}) as { format_kind?: string };
  const format = named ?? [...(await formatsOf(call)).values()].find((one) => canonicalKind(one) === kind);
  // Without a format of the kind its name is all there is to tell.
  return { format_id: format === undefined ? { agent_url: call.agentUrl, id: String(kind) } : formatId(call, format) };
}
