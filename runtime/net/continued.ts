/**
 * `100 Continue` that nobody has asked for. A client has to be able to hear it (RFC 9110, 15.2.1), and undici gives the connection
 * up: an answer behind it would be lost, though its request was carried out.
 */
import type { Socket } from "node:net";

const INTERIM = Buffer.from("HTTP/1.1 1");
const CONTINUE = Buffer.from("HTTP/1.1 100");
/** Of the status that undici is shown instead: one that it knows for an interim answer. */
const EARLY_HINTS_END = "3".charCodeAt(0);

const begins = (chunk: Uint8Array, at: number, head: Buffer): boolean =>
  head.equals(chunk.subarray(at, at + head.length));

/** Goes through the interim answers at the beginning of what was read. @returns whether the answer itself is still to come */
function showOtherwise(chunk: Buffer): boolean {
  let at = 0;
  while (begins(chunk, at, INTERIM)) {
    if (begins(chunk, at, CONTINUE)) chunk[at + CONTINUE.length - 1] = EARLY_HINTS_END;
    const end = chunk.indexOf("\r\n\r\n", at);
    if (end === -1) return true;
    at = end + 4;
  }
  return at === chunk.length;
}

/** A connection whose peer may say to continue: only where an answer begins, so that no body is touched. */
export function hearingContinue(socket: Socket): Socket {
  const read = socket.read.bind(socket);
  let answered = 0;
  socket.read = (size?: number) => {
    const chunk: Buffer | null = read(size);
    // What was written since is a request, and what comes first then is its answer.
    if (chunk !== null && socket.bytesWritten !== answered && !showOtherwise(chunk)) answered = socket.bytesWritten;
    return chunk;
  };
  return socket;
}
