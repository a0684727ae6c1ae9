/**
 * Those who follow the feed by Server-Sent Events. One question every so often tells all of an instance's streams whether
 * anything changed; each then reads its own pages, as fast as its reader takes them.
 */
import { Readable } from "node:stream";
import type { Logger } from "pino";
import type { FeedRequest, RegistryData } from "../types.js";
import { createFeedWatch, type FeedWatch } from "./feed-head.js";
import { Problem, unavailable } from "./problems.js";

/** Streams of one instance, and of one caller. */
const MAX_STREAMS = 100;
const MAX_PER_CALLER = 5;
/** After that a stream ends, in milliseconds: a credential that was revoked meanwhile is good for no longer. */
const LONGEST_MS = 3_600_000;
/** How long a reader may take for what it was sent, in milliseconds. */
const SLOW_MS = 30_000;

export interface FeedStreams {
  /** @throws Problem 429 for a caller's sixth stream, 503 where the instance has too many */
  open(caller: string, request: FeedRequest, heartbeatMs: number): Readable;
  /** Ends all of them. */
  stop(): Promise<void>;
}

interface FeedStreamDependencies {
  readonly data: Pick<RegistryData, "feed" | "feedEnd">;
  readonly log: Logger;
  /** Unix milliseconds. */
  readonly now: () => number;
}

const event = (name: string, data: object, id?: string | null): string =>
  `event: ${name}\n${id == null ? "" : `id: ${id}\n`}data: ${JSON.stringify(data)}\n\n`;

interface Following {
  readonly request: FeedRequest;
  readonly heartbeatMs: number;
  readonly signal: AbortSignal;
}

/** What a stream says, page by page. */
async function* follow(
  { data, now, head }: FeedStreamDependencies & { readonly head: FeedWatch },
  { request, heartbeatMs, signal }: Following,
): AsyncGenerator<string> {
  const until = performance.now() + LONGEST_MS;
  let { cursor } = request;
  let writtenAt = performance.now();
  // A proxy that keeps answers back until they are long enough lets this much through.
  yield ": feed\n\n";
  while (!signal.aborted && performance.now() < until) {
    const seen = head.newest;
    const page = await data.feed({ ...request, cursor });
    if (!page.ok) {
      yield event("error", { error: page.reason, message: "Begin again without a cursor" });
      return;
    }
    const { value } = page;
    cursor = value.cursor ?? cursor;
    if (value.events.length > 0) {
      yield event("feed", value, cursor);
      writtenAt = performance.now();
    }
    if (value.has_more) continue;
    await head.wait(seen, Math.max(0, writtenAt + heartbeatMs - performance.now()), signal);
    if (performance.now() >= writtenAt + heartbeatMs) {
      yield event("heartbeat", { generated_at: new Date(now()).toISOString(), cursor: cursor ?? null }, cursor);
      writtenAt = performance.now();
    }
  }
}

/** A stream of lines, each made when the one before was taken: a slow reader costs one page of memory. */
function readable(
  lines: AsyncGenerator<string>,
  { log, slowMs, ended }: { readonly log: Logger; readonly slowMs: number; readonly ended: () => void },
): Readable {
  let slow: NodeJS.Timeout | undefined;
  const stream = new Readable({
    highWaterMark: 1,
    read() {
      clearTimeout(slow);
      lines.next().then(
        ({ done, value }) => {
          if (stream.destroyed) return;
          stream.push(done ? null : value);
          slow = setTimeout(() => stream.destroy(), slowMs);
        },
        (error: Error) => {
          log.warn({ err: error }, "a stream of the feed has failed");
          stream.push(event("error", { error: "unavailable", message: "Go on later with the last cursor" }));
          stream.push(null);
        },
      );
    },
    destroy(error, callback) {
      ended();
      clearTimeout(slow);
      callback(error);
    },
  });
  return stream;
}

/** @see FeedStreams */
export function feedStreams(dependencies: FeedStreamDependencies): FeedStreams {
  const { data, log } = dependencies;
  const head = createFeedWatch(data, log);
  const open = new Map<Readable, string>();
  const stopping = new AbortController();

  return {
    open(caller, request, heartbeatMs) {
      if (stopping.signal.aborted || open.size >= MAX_STREAMS)
        throw unavailable("Too many streams are open here", "streams_full");
      const own = [...open.values()].filter((one) => one === caller).length;
      if (own >= MAX_PER_CALLER)
        throw new Problem(429, "Too many streams", {
          code: "streams_limited",
          message: `A caller has ${MAX_PER_CALLER} at once; end one first`,
          retryAfterSeconds: 60,
        });
      const ended = new AbortController();
      const signal = AbortSignal.any([ended.signal, stopping.signal]);
      const lines = follow({ ...dependencies, head }, { request, heartbeatMs, signal });
      const stream = readable(lines, { log, slowMs: SLOW_MS + heartbeatMs, ended: () => ended.abort() });
      stream.once("close", () => open.delete(stream));
      open.set(stream, caller);
      return stream;
    },
    async stop() {
      stopping.abort();
      head.stop();
      await Promise.all(
        [...open.keys()].map((one) => new Promise((done) => (one.closed ? done(0) : one.once("close", done)))),
      );
    },
  };
}
