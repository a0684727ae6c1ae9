/** Reads a body as it streams in, and stops at the cap. */
import type { Readable } from "node:stream";

export type BodyResult = Uint8Array | "too_large" | "incomplete";

const isStream = (body: object): body is Readable => typeof (body as Readable).on === "function";

/**
 * Collects the bytes of a body.
 * @param capBytes largest body; one byte more and reading ends there
 */
export function readBody(
  body: Uint8Array | AsyncIterable<Uint8Array>,
  capBytes: number,
): Promise<BodyResult> | BodyResult {
  if (body instanceof Uint8Array) return body.length > capBytes ? "too_large" : body;
  return isStream(body) ? readStream(body, capBytes) : readIterable(body, capBytes);
}

/** By events: iterating a node stream costs more than verifying a signature's window. */
function readStream(stream: Readable, capBytes: number): Promise<BodyResult> {
  return new Promise((resolve) => {
    const chunks: Uint8Array[] = [];
    let size = 0;
    const finish = (result: BodyResult): void => {
      stream.off("data", take).off("end", end).off("error", cut).off("close", cut);
      // A late error of a request nobody reads any more must not end the process.
      stream.on("error", () => undefined);
      resolve(result);
    };
    const take = (chunk: Uint8Array): void => {
      size += chunk.length;
      if (size > capBytes) {
        stream.pause();
        finish("too_large");
      } else chunks.push(chunk);
    };
    const end = (): void => finish(chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks, size));
    const cut = (): void => finish("incomplete");
    stream.on("data", take).on("end", end).on("error", cut).on("close", cut);
  });
}

async function readIterable(body: AsyncIterable<Uint8Array>, capBytes: number): Promise<BodyResult> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  try {
    for await (const chunk of body) {
      size += chunk.length;
      if (size > capBytes) return "too_large";
      chunks.push(chunk);
    }
  } catch {
    return "incomplete";
  }
  return Buffer.concat(chunks, size);
}
