/** Reads a body as it streams in, and stops at the cap and at the deadline. */
import type { Readable } from "node:stream";
import { Pieces } from "../pieces.js";
import { timerMs } from "../timers.js";

/**
 * `incomplete`: its sender broke off. `too_slow`: the deadline came first. `not_raw`: the application has parsed or read it
 * before, and the bytes that were signed are gone.
 */
export type BodyResult = Uint8Array | "too_large" | "incomplete" | "too_slow" | "not_raw";

export interface BodyBounds {
  /** Largest body in bytes; one more and reading ends there. */
  readonly capBytes: number;
  /** Longest wait for all of it, in milliseconds. */
  readonly withinMs: number;
}

const isStream = (body: object): body is Readable => typeof (body as Readable).on === "function";

const isIterable = (body: object): body is AsyncIterable<Uint8Array> => Symbol.asyncIterator in body;

/** Has a body that breaks off while nobody reads it end nothing: it is told when it is read. */
export function holdErrors(body: unknown): void {
  if (typeof body === "object" && body !== null && isStream(body)) body.on("error", () => undefined);
}

/** Collects the bytes of a body. @param body whatever the application gave: JavaScript's may be parsed already */
export function readBody(body: unknown, bounds: BodyBounds): Promise<BodyResult> | BodyResult {
  if (body instanceof Uint8Array) return body.length > bounds.capBytes ? "too_large" : body;
  if (typeof body !== "object" || body === null) return "not_raw";
  if (isStream(body)) return body.readableEnded ? "not_raw" : readStream(body, bounds);
  return isIterable(body) ? readIterable(body, bounds) : "not_raw";
}

/** By events: iterating a node stream costs more than verifying a signature's window. */
function readStream(stream: Readable, { capBytes, withinMs }: BodyBounds): Promise<BodyResult> {
  return new Promise((resolve) => {
    const pieces = new Pieces();
    const finish = (result: BodyResult): void => {
      clearTimeout(timer);
      stream.off("data", take).off("end", end).off("error", cut).off("close", cut);
      resolve(result);
    };
    const leave = (result: BodyResult): void => {
      stream.pause();
      finish(result);
    };
    const take = (chunk: unknown): void => {
      // Text where the application has set an encoding: what was none is something else by now.
      if (!(chunk instanceof Uint8Array)) leave("not_raw");
      else if (pieces.size + chunk.length > capBytes) leave("too_large");
      else pieces.add(chunk);
    };
    const end = (): void => finish(Buffer.from(pieces.bytes.buffer));
    const cut = (): void => finish("incomplete");
    const timer = setTimeout(() => leave("too_slow"), timerMs(withinMs));
    stream.on("data", take).on("end", end).on("error", cut).on("close", cut);
    // What ended without a listener tells nobody again.
    if (stream.destroyed) cut();
  });
}

async function readIterable(body: AsyncIterable<Uint8Array>, { capBytes, withinMs }: BodyBounds): Promise<BodyResult> {
  const pieces = new Pieces();
  let slow = false;
  const source = body[Symbol.asyncIterator]();
  const { promise: late, resolve } = Promise.withResolvers<{ done: true; value: undefined }>();
  const timer = setTimeout(() => {
    slow = true;
    resolve({ done: true, value: undefined });
  }, timerMs(withinMs));
  // Who never ends does not answer that nobody listens any more either: that is not waited for.
  const leave = (result: BodyResult): BodyResult => {
    Promise.resolve(source.return?.()).catch(() => undefined);
    return result;
  };
  try {
    for (;;) {
      const { done, value: chunk } = await Promise.race([source.next(), late]);
      if (slow) return leave("too_slow");
      if (done) return Buffer.from(pieces.bytes.buffer);
      if (!(chunk instanceof Uint8Array)) return leave("not_raw");
      if (pieces.size + chunk.length > capBytes) return leave("too_large");
      pieces.add(chunk);
    }
  } catch {
    return "incomplete";
  } finally {
    clearTimeout(timer);
  }
}
