/** Webhooks kept as files, which `adbind webhook verify` and `replay` read, and sent on to where they are wanted. */
import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { AdbindError } from "../runtime/errors.js";
import type { Fetcher, FetchResponse } from "../runtime/net/index.js";
import { fieldValue } from "../runtime/signing/headers.js";
import type { SignableRequest } from "../runtime/signing/index.js";
import type { WebhookRequest } from "./webhook-arrival.js";

/** What belongs to one connection, and what the next one makes anew (RFC 9110, 7.6.1). */
const HOP =
  /^(?:host|connection|keep-alive|transfer-encoding|te|trailer|upgrade|proxy-.*|content-length|expect|accept-encoding)$/i;

/** Most of an answer that is shown, in bytes. */
const ANSWER_BYTES = 4_096;

/** A request as a file: raw HTTP, the body's bytes as they were. */
const rawOf = ({ method, target, headers, body }: WebhookRequest): Buffer => {
  const lines = [`${method} ${target} HTTP/1.1`, ...headers.map(([name, value]) => `${name}: ${value}`)];
  return Buffer.concat([Buffer.from(`${lines.join("\r\n")}\r\n\r\n`, "latin1"), body]);
};

/** Files of one folder, numbered on from what is there. */
export class Kept {
  #next: number;

  /** @throws Error of the system where the folder cannot be made or read */
  constructor(private readonly folder: string) {
    mkdirSync(folder, { recursive: true });
    const numbers = readdirSync(folder).map((name) => Number(/^(\d{1,9})\.http$/.exec(name)?.[1] ?? 0));
    this.#next = Math.max(0, ...numbers) + 1;
  }

  /** @returns path of the file, which nobody else may read: it may hold credentials */
  keep(arrival: WebhookRequest): string {
    const file = path.join(this.folder, `${String(this.#next++).padStart(4, "0")}.http`);
    writeFileSync(file, rawOf(arrival), { mode: 0o600, flag: "wx" });
    return file;
  }
}

/**
 * Sends a request on with its own bytes and headers.
 * @throws AdbindError `delivery_failed` where no answer comes
 */
export async function sendOn(
  fetch: Fetcher,
  url: string,
  { method, headers, body }: SignableRequest,
): Promise<FetchResponse> {
  const names = Array.isArray(headers) ? headers.map(([name]) => name as string) : Object.keys(headers);
  const wanted = [...new Set(names.map((name) => name.toLowerCase()))].filter((name) => !HOP.test(name));
  const given = wanted.map((name) => [name, fieldValue(headers, name)] as const);
  const answer = await fetch(url, {
    method,
    headers: Object.fromEntries(given.filter((pair): pair is readonly [string, string] => pair[1] !== undefined)),
    body,
    maxBytes: ANSWER_BYTES,
    oversize: "truncate",
  });
  if (answer.ok) return answer;
  throw new AdbindError("delivery_failed", "The webhook was not delivered", {
    where: `${url}: ${answer.code}: ${answer.detail}`,
    remedy: "see that something listens there; plain http and this machine need --local",
  });
}
