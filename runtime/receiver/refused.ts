/** Answers that refuse, with what is counted and logged of them. */
import type { Refusal } from "../signing/types.js";
import type { RouteBinding } from "../store/types.js";
import { challengeFor } from "./authenticate.js";
import type { BodyResult } from "./body.js";
import { notRaw } from "./not-raw.js";
import type { ReceiverAnswer } from "./types.js";

/** Seconds a sender is asked to wait when keys or the store cannot be reached. */
export const UNAVAILABLE_RETRY_SECONDS = 5;
/** Characters logged of a keyid. */
const MAX_KEYID_CHARS = 64;

export const json = { "content-type": "application/json" } as const;
/** A refusal: its answer, and what is counted and logged of it. */
export interface RefusedRequest {
  readonly code: string;
  readonly answer: ReceiverAnswer;
  readonly about?: object;
  /** The store was asked, and with the claim it judged the nonce. */
  readonly spent?: boolean;
}

export type Decision = ReceiverAnswer | RefusedRequest;

interface RefusedWith {
  readonly headers?: Record<string, string>;
  readonly fields?: readonly string[];
  readonly about?: object;
}

export const refuse = (status: number, code: string, { headers, fields, about }: RefusedWith = {}): RefusedRequest => ({
  code,
  answer: {
    status,
    headers: { ...json, ...headers },
    body: JSON.stringify({ error: code, ...(fields && { fields }) }),
  },
  ...(about && { about }),
});

/** RefusedRequest with the body still on its way: the connection is not worth keeping. */
export const closing = (refused: RefusedRequest): RefusedRequest => ({
  ...refused,
  answer: { ...refused.answer, headers: { ...refused.answer.headers, connection: "close" } },
});

export const early = (status: number, code: string, more?: RefusedWith): RefusedRequest =>
  closing(refuse(status, code, more));

/** A body that did not come, or not as the bytes that were signed. */
export function unread(body: Exclude<BodyResult, Uint8Array>, { sender }: RouteBinding): RefusedRequest {
  const about = { sender };
  switch (body) {
    case "too_large":
      return early(413, "body_too_large", { about });
    case "too_slow":
      return early(408, "body_too_slow", { about });
    case "incomplete":
      return early(400, "body_incomplete", { about });
    case "not_raw":
      throw notRaw();
  }
}

export function unauthenticated(result: Refusal, binding: RouteBinding, bytes: number): RefusedRequest {
  const { code, step, detail, keyid, keys, status } = result;
  const challenge = challengeFor(result);
  const retryAfter = String(result.retryAfterSeconds ?? UNAVAILABLE_RETRY_SECONDS);
  const headers: Record<string, string> = {
    ...(status === 503 && { "retry-after": retryAfter }),
    ...(status === 401 && challenge !== undefined && { "www-authenticate": challenge }),
  };
  const who = { sender: binding.sender, ...(keyid && { keyid: keyid.slice(0, MAX_KEYID_CHARS) }) };
  return refuse(status, code, {
    headers,
    about: { step, ...(detail && { detail }), bytes, ...who, ...(keys && { keys }) },
  });
}
