/** Reads one answer off a connection of undici's: its head, then as much of its body as is asked for. */
import type { Dispatcher } from "undici";
import { Pieces } from "../pieces.js";
import { NetFault } from "./codes.js";
import type { Deadline } from "./deadline.js";

/**
 * Whether a body is waited for. False: only the head matters and is told at once; what a body does after that, slow or cut,
 * changes nothing, and a little of it is read all the same, so that the connection can be used again. `briefly`: the head is
 * told with what has come of the body within a second, and a body that is slow or cut by then is a truncated one.
 */
export type ReadBody = boolean | "briefly";

/**
 * Looks at the head of an answer, then at each piece of its body, and says whether what has come is all that is wanted. The
 * body is told then, and what follows is waited for by nobody.
 */
export type Enough = (headers: Readonly<Record<string, string>>) => ((piece: Uint8Array) => boolean) | undefined;

/** How much of a body is wanted. */
export interface BodyWanted {
  readonly maxBytes: number;
  /** A larger body: `refuse` is a fault, `truncate` keeps what fits. */
  readonly oversize: "refuse" | "truncate";
  readonly read: ReadBody;
  readonly enough?: Enough | undefined;
}

export interface HttpAnswer {
  readonly status: number;
  /** Lower-case names; fields sent more than once are joined with `, `. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
  readonly truncated: boolean;
}

/** How long a body that nobody waits for may take, in milliseconds; then its connection is given up. */
const REST_MS = 1_000;
/** The same for what is read briefly: the exchange is not to end before it. */
export const briefMs = (deadline: Deadline): number => Math.min(REST_MS, deadline.leftMs / 2);

/** A peer may say so many times that its answer is to come: it could say nothing else until the time is over, and fast. */
const MOST_INTERIM = 16;

/** So many bodies that nobody waits for may be on their way at once: each holds a connection, and whoever was told may ask again. */
const MOST_RESTS = 64;

/** Answers that were told and whose bodies are still on their way: of too many the oldest are given up. */
export class Rests {
  readonly #all = new Set<() => void>();

  add(giveUp: () => void): void {
    this.#all.add(giveUp);
    if (this.#all.size <= MOST_RESTS) return;
    const [oldest] = this.#all;
    this.#all.delete(oldest!);
    oldest!();
  }

  delete(giveUp: () => void): void {
    this.#all.delete(giveUp);
  }
}

export const NOBODY_READS = new NetFault("aborted", "nobody reads the rest");

type Fields = Readonly<Record<string, string | string[] | undefined>>;
type Controller = Dispatcher.DispatchController;

function flatHeaders(fields: Fields): Record<string, string> {
  const flat: Record<string, string> = {};
  for (const name in fields) {
    const value = fields[name];
    if (value !== undefined) flat[name.toLowerCase()] = Array.isArray(value) ? value.join(", ") : value;
  }
  return flat;
}

const isEncoded = (headers: HttpAnswer["headers"]): boolean =>
  !["", "identity"].includes((headers["content-encoding"] ?? "").trim().toLowerCase());

/** Keeps chunks of a body up to a cap, counting what arrived: a Content-Length is a claim. */
export class BodyReader {
  readonly #pieces = new Pieces();
  #enough: ReturnType<Enough>;
  /** There was more than fits. */
  truncated = false;

  constructor(
    readonly reading: BodyWanted,
    readonly headers: HttpAnswer["headers"],
  ) {
    this.#enough = reading.enough?.(headers);
  }

  /** @returns whether more is wanted @throws NetFault `encoding_refused`, `too_large` */
  take(chunk: Uint8Array): boolean {
    const { maxBytes, oversize } = this.reading;
    // Once something has come: a body that is empty is not compressed either.
    if (oversize === "refuse" && isEncoded(this.headers)) throw new NetFault("encoding_refused", "a compressed answer");
    const room = maxBytes - this.#pieces.size;
    if (chunk.byteLength <= room) {
      this.#pieces.add(chunk);
      if (this.#enough?.(chunk) !== true) return true;
      this.#enough = undefined;
      return false;
    }
    if (oversize === "refuse") throw new NetFault("too_large", `more than ${maxBytes} bytes`);
    this.#pieces.add(chunk.subarray(0, room));
    this.truncated = true;
    return false;
  }

  get body(): Uint8Array {
    return Buffer.from(this.#pieces.bytes.buffer);
  }
}

export interface AnswerOptions {
  readonly deadline: Deadline;
  readonly rests: Rests;
  readonly readingOf: (status: number, headers: HttpAnswer["headers"]) => BodyWanted;
  readonly resolve: (answer: HttpAnswer) => void;
  readonly reject: (error: unknown) => void;
}

/** What undici tells of one request. */
export class AnswerHandler implements Dispatcher.DispatchHandler {
  #controller: Controller | undefined;
  #status = 0;
  #interim = 0;
  #reader: BodyReader | undefined;
  #told = false;
  #rest: NodeJS.Timeout | undefined;
  #ended = false;
  #stop = (): void => undefined;
  readonly #giveRestUp = (): void => this.#giveUp(NOBODY_READS);

  constructor(readonly options: AnswerOptions) {
    this.#stop = options.deadline.onEnd((fault) => this.#giveUp(fault));
  }

  onRequestStart(controller: Controller): void {
    this.#controller = controller;
    const { fault } = this.options.deadline;
    if (fault !== undefined) controller.abort(fault);
  }

  onResponseStart(_controller: Controller, status: number, fields: Fields): void {
    // The real one follows.
    if (status < 200) {
      this.#hearInterim();
      return;
    }
    const headers = flatHeaders(fields);
    this.#status = status;
    const reading = this.options.readingOf(status, headers);
    this.#reader = new BodyReader(reading, headers);
    if (reading.read === true) return;
    if (reading.read === false) this.#tell(new Uint8Array(), false);
    const restMs = reading.read === "briefly" ? briefMs(this.options.deadline) : REST_MS;
    // Most answers are whole by then.
    queueMicrotask(() => this.#waitForRest(restMs, reading.read === false));
  }

  /** @param told the answer is told, and its connection is all that is waited for */
  #waitForRest(restMs: number, told: boolean): void {
    if (this.#ended) return;
    this.#rest = setTimeout(this.#giveRestUp, restMs);
    if (told) this.options.rests.add(this.#giveRestUp);
  }

  onResponseData(controller: Controller, chunk: Buffer): void {
    try {
      const reader = this.#reader!;
      if (reader.take(chunk)) return;
      this.#tell(reader.body, reader.truncated);
      if (reader.truncated) controller.abort(NOBODY_READS);
      // A server that ends behind it keeps its connection.
      else this.#waitForRest(REST_MS, true);
    } catch (fault) {
      this.#fail(fault);
      controller.abort(fault as Error);
    }
  }

  onResponseEnd(): void {
    this.#end();
    if (!this.#told) this.#tell(this.#reader!.body, false);
  }

  onResponseError(_controller: Controller, error: Error): void {
    this.#end();
    this.#fail(error);
  }

  #hearInterim(): void {
    this.#interim += 1;
    if (this.#interim > MOST_INTERIM)
      this.#giveUp(new NetFault("too_large", `more than ${MOST_INTERIM} interim answers`));
  }

  #end(): void {
    this.#ended = true;
    clearTimeout(this.#rest);
    this.options.rests.delete(this.#giveRestUp);
  }

  #tell(body: Uint8Array, truncated: boolean): void {
    if (this.#told) return;
    this.#done();
    this.options.resolve({ status: this.#status, headers: this.#reader!.headers, body, truncated });
  }

  #fail(error: unknown): void {
    if (this.#told) return;
    const reader = this.#reader;
    if (reader?.reading.read === "briefly") this.#tell(reader.body, true);
    else {
      this.#done();
      this.options.reject(error);
    }
  }

  #done(): void {
    this.#told = true;
    this.#stop();
  }

  #giveUp(reason: Error): void {
    this.#fail(reason);
    this.#controller?.abort(reason);
  }
}
