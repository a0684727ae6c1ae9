/** What both sides of a conversation can do. */
import { isJsonObject, type JsonObject } from "../../contract/index.js";

/** What every host can: text, and the components that it has to render. */
const plainHost: JsonObject = {
  modalities: { conversational: true },
  components: { standard: ["text", "link", "image", "product_card", "carousel", "action_button"] },
};

/** A modality that one side only has settings of is there where the other says yes. */
function both(own: unknown, theirs: unknown): unknown {
  if (own === false || theirs === false) return false;
  if (Array.isArray(own)) return Array.isArray(theirs) ? own.filter((one) => theirs.includes(one)) : [];
  if (isJsonObject(own)) return isJsonObject(theirs) ? sharedCapabilities(own, theirs) : own;
  return own;
}

/** @param theirs what the host has said; what every host can where it has said nothing */
export function sharedCapabilities(own: JsonObject, theirs: JsonObject = plainHost): JsonObject {
  const shared = Object.keys(own).filter((name) => Object.hasOwn(theirs, name));
  return Object.fromEntries(shared.map((name) => [name, both(own[name], theirs[name])]));
}

/** Elements that the host can show; those that are no standard component are for hosts that know them. */
export function shownElements(capabilities: JsonObject, elements: readonly JsonObject[]): readonly JsonObject[] {
  const standard = (plainHost.components as { standard: string[] }).standard;
  const agreed = (capabilities.components as { standard?: readonly unknown[] } | undefined)?.standard ?? [];
  return elements.filter(({ type }) => !standard.includes(String(type)) || agreed.includes(type));
}
