/** The cursor of a search: where a traversal stands, as text. It is no secret and needs no signature: it names no more than a page shows. */
import type { Position } from "./select.js";

export const formatCursor = ({ seq, after }: Position): string =>
  Buffer.from(JSON.stringify([seq, after.score, after.url])).toString("base64url");

/** @returns undefined for a text that no search answered */
export function parseCursor(text: string): Position | undefined {
  if (!/^[A-Za-z0-9_-]+$/.test(text)) return undefined;
  let value: unknown;
  try {
    value = JSON.parse(Buffer.from(text, "base64url").toString("utf8"));
  } catch {
    return undefined;
  }
  if (!Array.isArray(value) || value.length !== 3) return undefined;
  const [seq, score, url] = value as unknown[];
  if (typeof seq !== "number" || !Number.isSafeInteger(seq) || seq < 0) return undefined;
  if (typeof score !== "number" || !Number.isFinite(score) || typeof url !== "string") return undefined;
  return { seq, after: { score, url } };
}
