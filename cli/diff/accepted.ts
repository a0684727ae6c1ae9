/** Findings that somebody has accepted: a file of ids, each with a reason, a name and a last day. */
import { readFileSync } from "node:fs";
import type { DiffFinding } from "../../generator/diff/finding.js";
import { AdbindError } from "../../runtime/errors.js";
import { shownPath, userPath } from "../output.js";

interface Accepted {
  readonly id: string;
  readonly reason: string;
  readonly by: string;
  /** The last day it holds, `YYYY-MM-DD`. */
  readonly expires: string;
}

const isRow = (row: unknown): row is Accepted => {
  const { id, reason, by, expires } = (row ?? {}) as Partial<Record<keyof Accepted, unknown>>;
  const texts = [id, reason, by].every((one) => typeof one === "string" && one.trim() !== "");
  return (
    texts && typeof expires === "string" && /^\d{4}-\d{2}-\d{2}$/.test(expires) && !Number.isNaN(Date.parse(expires))
  );
};

/** @throws AdbindError usage for a file that is none, or a row that lacks something */
function readRows(file: string): Accepted[] {
  let value: unknown;
  try {
    value = JSON.parse(readFileSync(userPath(file), "utf8"));
  } catch (cause) {
    throw new AdbindError("usage", "--accept cannot be read", { where: file, remedy: "give a JSON file", cause });
  }
  if (Array.isArray(value) && value.every(isRow)) return value;
  throw new AdbindError("usage", "--accept is no list of accepted findings", {
    where: shownPath(userPath(file)),
    remedy: 'write [{"id", "reason", "by", "expires": "YYYY-MM-DD"}], each with a text',
  });
}

/**
 * Findings that nobody has accepted, or whose last day is over.
 * @param today `YYYY-MM-DD`
 */
export function unaccepted(findings: readonly DiffFinding[], file: string, today: string): DiffFinding[] {
  const held = new Set(
    readRows(file)
      .filter(({ expires }) => expires >= today)
      .map(({ id }) => id),
  );
  return findings.filter(({ id }) => !held.has(id));
}
