/** Names that applications give: part of index entries, of which PostgreSQL takes 2,704 bytes. */
import { AdbindError } from "../errors.js";

const MAX_ID_CHARACTERS = 255;
/** As JSON has it; two of them stand in one entry. */
const MAX_NAME_BYTES = 1_000;

const called = {
  taskId: "a task id",
  dedupKey: "a dedup key",
  principal: "a principal",
  mediaBuyId: "a media buy's id",
  resource: "a resource's name",
  account: "an account's id",
  subject: "a subject",
  notificationId: "a notification's id",
  eventType: "an event's type",
  endpoint: "an endpoint's name",
  origin: "an origin",
} as const;

/** A text that every database can keep. */
export const isStorable = (value: unknown): value is string => typeof value === "string" && !value.includes("\0");

const isName = (text: string): boolean => isStorable(text) && text !== "" && text.isWellFormed();

const unusable = (where: keyof typeof called, remedy: string): AdbindError =>
  new AdbindError("event_invalid", `${called[where]} cannot be used`, { where, remedy });

/**
 * Names of what may be stored, or not: nothing is found by what nothing is stored under. Databases keep all lone surrogates as
 * one character, so that what has it in its name would be found by each of them.
 * @throws AdbindError `event_invalid` for a text that no database can tell from every other
 */
export function checkSoughtNames(names: { readonly [Name in keyof typeof called]?: string | undefined }): void {
  for (const [where, name] of Object.entries(names) as [keyof typeof names, string | undefined][]) {
    if (name === undefined || (isStorable(name) && name.isWellFormed())) continue;
    throw unusable(where, "use a text without NUL and without half of a character");
  }
}

/** Whether a task's id or a dedup key can be one. */
export const isUsableId = (id: string): boolean => isName(id) && id.length <= MAX_ID_CHARACTERS;

/** @throws AdbindError `event_invalid` */
export function checkId(where: "taskId" | "dedupKey", id: string): void {
  if (isUsableId(id)) return;
  throw unusable(where, `use 1 to ${MAX_ID_CHARACTERS} characters, and no NUL`);
}

/** @throws AdbindError `event_invalid` for one that is there and cannot be stored */
export function checkStorableNames(
  names: { readonly [Name in Exclude<keyof typeof called, "taskId" | "dedupKey">]?: string | undefined },
): void {
  for (const [where, name] of Object.entries(names) as [keyof typeof names, string | undefined][]) {
    if (name === undefined || (isName(name) && Buffer.byteLength(JSON.stringify(name)) <= MAX_NAME_BYTES)) continue;
    throw unusable(where, `use at least one character, no NUL, and at most ${MAX_NAME_BYTES} bytes as JSON`);
  }
}
