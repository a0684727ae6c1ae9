/** A part of the search's index, asked over HTTP: within a time, and never waited for by all where it is late again and again. */
import { Agent as PlainAgent, request as plainRequest } from "node:http";
import { Agent as SecureAgent, request as secureRequest } from "node:https";
import { safely } from "../../listener.js";
import type { AgentPart } from "../../store/registry-profiles.js";
import type { PartEvent, PartFault } from "../search-types.js";
import {
  type AddressedQuestion,
  ANSWER_BYTES,
  type AnswerTo,
  PART_FORMAT,
  PART_PATH,
  type PartQuestion,
  partName,
} from "./part-wire.js";

/** An answer, or why there is none. */
export type PartReply<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly why: PartFault; readonly detail: string };

export interface PartClientOptions {
  readonly url: string;
  readonly part: AgentPart;
  /** The secret that parts and those who ask them share. */
  readonly token: string;
  /** How long an answer is waited for, in milliseconds. */
  readonly deadlineMs: number;
  readonly onAnswer?: ((event: PartEvent) => void) | undefined;
}

/** Which database is meant, and what of it the answer is to know. */
export type AskedOf = Pick<AddressedQuestion, "at" | "store">;

export interface PartClient {
  readonly name: string;
  /** @param of the state of what database is asked for, as far as that is known */
  ask<Q extends PartQuestion>(question: Q, of: AskedOf): Promise<PartReply<AnswerTo<Q>>>;
}

/** So often late in a row, it is asked by one search a second only; the others go without it at once. */
const LATE_IN_A_ROW = 3;
const REST_MS = 1_000;
/** Connections to one part. */
const CONNECTIONS = 64;

interface Sent {
  readonly url: URL;
  readonly token: string;
  readonly agent: PlainAgent;
  readonly deadlineMs: number;
}

/** What came back: its status, and its body where that is JSON. */
type Reply = { readonly status: number; readonly body: unknown };

const unanswered = (why: PartFault, detail: string) => ({ ok: false, why, detail }) as const;

/** Sends a question and reads the answer, which is one however it ends. */
function post({ url, token, agent, deadlineMs }: Sent, question: object): Promise<PartReply<Reply>> {
  const text = JSON.stringify(question);
  const headers = {
    "content-type": "application/json",
    "content-length": Buffer.byteLength(text),
    authorization: `Bearer ${token}`,
  };
  return new Promise((resolve) => {
    const send = url.protocol === "https:" ? secureRequest : plainRequest;
    const request = send(url, { method: "POST", agent, headers });
    const finish = (outcome: PartReply<Reply>): void => {
      clearTimeout(timer);
      resolve(outcome);
      if (!outcome.ok) request.destroy();
    };
    const late = (): void => finish(unanswered("late", `no answer within ${deadlineMs} ms`));
    // Where this process itself was busy for so long, the answer may be there already, and is read first.
    const timer = setTimeout(() => setImmediate(late), deadlineMs);
    request.on("error", (error: NodeJS.ErrnoException) => finish(unanswered("gone", error.code ?? error.message)));
    request.on("response", (response) => {
      const chunks: Buffer[] = [];
      let bytes = 0;
      response.on("data", (chunk: Buffer) => {
        bytes += chunk.length;
        if (bytes > ANSWER_BYTES) finish(unanswered("failed", `an answer of more than ${ANSWER_BYTES} bytes`));
        else chunks.push(chunk);
      });
      response.on("error", (error) => finish(unanswered("gone", error.message)));
      response.on("end", () => {
        try {
          const body = JSON.parse(Buffer.concat(chunks).toString("utf8")) as unknown;
          finish({ ok: true, value: { status: response.statusCode!, body } });
        } catch {
          finish(unanswered("failed", `an answer of status ${response.statusCode} that is not JSON`));
        }
      });
    });
    request.end(text);
  });
}

const faults: readonly PartFault[] = ["loading", "behind", "refused"];

function answerOf<T>({ status, body }: Reply): PartReply<T> {
  if (status === 200) return { ok: true, value: body as T };
  const { error, code } = (body ?? {}) as { readonly error?: string; readonly code?: string };
  const why = faults.find((one) => code === `part_${one}`) ?? (status === 401 ? "refused" : "failed");
  return unanswered(why, error ?? `status ${status}`);
}

/** A client of one part. Its connections are kept, and keep no process alive. */
export function partClient({ url, part, token, deadlineMs, onAnswer }: PartClientOptions): PartClient {
  const name = partName(part);
  const where = new URL(PART_PATH, url);
  const kept = { keepAlive: true, maxSockets: CONNECTIONS };
  const agent = where.protocol === "https:" ? new SecureAgent(kept) : new PlainAgent(kept);
  const sent = { url: where, token, agent, deadlineMs };
  let lateInARow = 0;
  let restsUntil = 0;
  let before: PartFault | undefined | "unknown" = "unknown";
  const note = (outcome: PartReply<unknown>): void => {
    const why = outcome.ok ? undefined : outcome.why;
    const changed = before !== why && !(before === "unknown" && why === undefined);
    before = why;
    const failed = !outcome.ok && { why: outcome.why, detail: outcome.detail };
    safely(() => onAnswer?.({ part: name, url: where.origin, changed, ...failed }));
  };
  return {
    name,
    async ask<Q extends PartQuestion>(question: Q, of: AskedOf): Promise<PartReply<AnswerTo<Q>>> {
      const resting = lateInARow >= LATE_IN_A_ROW && performance.now() < restsUntil;
      // Whoever comes after the rest tries; who comes meanwhile does not wait with it.
      if (!resting) restsUntil = performance.now() + REST_MS;
      const asked = { ...question, ...part, format: PART_FORMAT, ...of };
      const reply = resting ? unanswered("late", "it was late again and again") : await post(sent, asked);
      const late = !resting && !reply.ok && reply.why === "late";
      // The deadline itself may be as long as the rest.
      if (late) restsUntil = performance.now() + REST_MS;
      if (!resting) lateInARow = late ? lateInARow + 1 : 0;
      const outcome = reply.ok ? answerOf<AnswerTo<Q>>(reply.value) : reply;
      note(outcome);
      return outcome;
    },
  };
}
