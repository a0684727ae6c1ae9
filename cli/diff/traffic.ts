/** Recorded payloads before two releases: how many of what was really sent breaks. */
import { pairingOf, type Side } from "../../generator/diff/finding.js";
import type { DiffSide } from "../../generator/diff/side.js";
import { reasonOf } from "../../generator/diff/witness.js";
import type { Json } from "../../generator/model/shape.js";
import { AdbindError } from "../../runtime/errors.js";
import { readUserFile } from "../user-file.js";

/** A line: which message of which tool, and the payload. */
interface Recorded {
  readonly tool: string;
  /** `request`, `answer` (or `response`), or `async:<status>`. */
  readonly direction: string;
  readonly payload: Json;
}

export interface TrafficBreak {
  /** From 1. */
  readonly line: number;
  readonly tool: string;
  readonly side: Side;
  readonly pairing: string;
  readonly because: string;
}

export interface Traffic {
  readonly payloads: number;
  /** Payloads that the older release accepts, and the newer refuses. */
  readonly broken: readonly TrafficBreak[];
  /** Payloads that the older release refuses, or has no schema for. */
  readonly unreadable: number;
}

/** The schema of a tool's message; undefined where the release has none. */
export function messageSchema({ model }: DiffSide, tool: string, side: Side): string | undefined {
  const found = model.tools.find(({ name }) => name === tool);
  if (side === "request") return found?.request;
  if (side === "answer") return found?.response;
  return found?.arms.find(({ status }) => `async:${status}` === side)?.schema;
}

function rowsOf(file: string): Recorded[] {
  const lines = readUserFile(file).toString().split("\n");
  return lines.flatMap((line, index): Recorded[] => {
    if (line.trim() === "") return [];
    try {
      const row = JSON.parse(line) as Partial<Recorded>;
      if (typeof row.tool === "string" && typeof row.direction === "string" && row.payload !== undefined)
        return [row as Recorded];
    } catch {
      // What is said of a line that is none is said below.
    }
    throw new AdbindError("usage", "--traffic has a line that is no payload", {
      where: `${file}:${index + 1}`,
      remedy: 'write {"tool", "direction": "request" | "answer" | "async:<status>", "payload"} a line',
    });
  });
}

/** @throws AdbindError usage */
export function judgeTraffic(file: string, a: DiffSide, b: DiffSide): Traffic {
  const rows = rowsOf(file);
  const broken: TrafficBreak[] = [];
  let unreadable = 0;
  for (const [index, { tool, direction, payload }] of rows.entries()) {
    const side = (direction === "response" ? "answer" : direction) as Side;
    const [old, now] = [messageSchema(a, tool, side), messageSchema(b, tool, side)];
    if (old === undefined || a.judge(old, payload).length > 0) {
      unreadable++;
      continue;
    }
    const [refusal] = now === undefined ? [] : b.judge(now, payload);
    if (now !== undefined && refusal === undefined) continue;
    const because = refusal === undefined ? "the newer release has no such message" : reasonOf(refusal);
    broken.push({ line: index + 1, tool, side, pairing: pairingOf(side, true), because });
  }
  return { payloads: rows.length, broken, unreadable };
}
