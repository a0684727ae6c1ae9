/** Which event a body is: by what its route was registered for, and by what its release calls it. */
import type { EventChannel, Release } from "../contract/index.js";
import { member } from "../extract/json-object.js";
import { type CataloguedEvent, eventCatalogue, eventIn, kindNamed, registeredEvents } from "../facts/index.js";
import type { EventKind, EventNote, Registration } from "../store/types.js";

/** Longest word kept of a body, in characters: the sender chose it. */
const MAX_WORD_CHARS = 64;

const many: readonly EventKind[] = ["account", "agent"];

/** Kinds of routes that are told of many kinds of events. */
export const isConfigKind = (kind: EventKind): boolean => many.includes(kind);

/** A body that asks whether a URL listens, before anything is sent there. */
export const isChallenge = (body: unknown): body is { readonly challenge: string } =>
  member(body, "type") === "webhook.challenge" && typeof member(body, "challenge") === "string";

/**
 * The kind of a body: what its route was registered for. A task's registration outlives it where the task made a media buy
 * (docs/protocol/webhooks.md#persistent-channels): the buy's impairments then come to the same place, and are no task's
 * events, though releases give them a task's envelope. So may what an account's config was meant to be told.
 */
export function kindOf(body: unknown, registered: EventKind, release: Pick<Release, "facts">): EventKind {
  if (registered !== "task") return registered;
  const named = kindNamed(body);
  if (named === "impairment") return "impairment";
  const entry = named === undefined ? undefined : eventCatalogue(release).get(named);
  return member(body, "task_id") != null
    ? registered
    : (many.find((kind) => entry?.channels.includes(kind as EventChannel)) ?? registered);
}

/** The catalogue's row of a body, or the word it calls itself by. */
export const eventOf = (
  release: Pick<Release, "facts">,
  kind: EventKind,
  body: unknown,
): CataloguedEvent | string | undefined => {
  if (kind === "task") return eventCatalogue(release).get("task");
  const found = eventIn(release, body, registeredEvents[kind].channels);
  return found ?? (kind === "impairment" ? eventCatalogue(release).get("impairment") : undefined);
};

const note = (code: EventNote["code"], message: string): EventNote => ({ code, pointer: "", message });

/** What is to be told of an event's kind: nobody refuses it for that. */
export function kindNotes(
  event: CataloguedEvent | string | undefined,
  kind: EventKind,
  registration: Registration | undefined,
): EventNote[] {
  if (!isConfigKind(kind)) return [];
  if (event === undefined) return [note("kind_unknown", "it does not say which event it is")];
  if (typeof event === "string") {
    return [note("kind_unknown", `the release has no event ${event.slice(0, MAX_WORD_CHARS)}`)];
  }
  const expected = registration !== undefined && registration.kind === kind ? registration.events : [];
  const taken = expected === null ? event.channels.includes(kind as EventChannel) : expected.includes(event.kind);
  return taken ? [] : [note("kind_unregistered", `${event.kind} is none of what was registered`)];
}
