/** How long near-simultaneous changes of one resource wait to be sent as one (docs/protocol/webhooks.md#coalescence). */

/** Longest window without the buyer's opt-in, in milliseconds. */
const GENERAL_MS = 5 * 60_000;
/** Events that must not wait: anything from a minute on would break the rule, and we wait not at all by default. */
export const urgentTypes = ["fraud", "brand_safety"] as const;
const urgent: ReadonlySet<string> = new Set(urgentTypes);
const URGENT_LIMIT_MS = 59_000;

export const isUrgent = (type: string): boolean => urgent.has(type);

export interface WindowOptions {
  /** The operator's windows by event type, in milliseconds. */
  readonly windows: Readonly<Record<string, number>>;
  /** Longer windows this buyer agreed to, by event type, in milliseconds. */
  readonly optIn: Readonly<Record<string, number>>;
}

const own = (record: Readonly<Record<string, number>>, name: string): number | undefined =>
  Object.hasOwn(record, name) ? record[name] : undefined;

/** Window of an event type, in milliseconds. */
export function windowFor(type: string, { windows, optIn }: WindowOptions): number {
  const standard = urgent.has(type) ? 0 : GENERAL_MS;
  const ceiling = Math.max(urgent.has(type) ? URGENT_LIMIT_MS : GENERAL_MS, own(optIn, type) ?? 0);
  return Math.min(own(windows, type) ?? standard, ceiling);
}

/** Longest window that any event type can have, in milliseconds. */
export const longestWindow = (windows: Readonly<Record<string, number>>): number =>
  Math.max(GENERAL_MS, ...Object.values(windows));

/** What a sealed payload is bound to. */
export const coalescedName = (resource: string, slot: string): string => JSON.stringify([resource, slot]);
