/** Bodies of requests to a fastify app, which keeps every piece of one until the last has come. */
import { Readable } from "node:stream";
import type { FastifyInstance } from "fastify";
import { Pieces } from "./pieces.js";

/** Handed on together, in bytes. */
const TOGETHER_BYTES = 16_384;

/** What comes of a body, in pieces that are worth keeping apart. Nothing of it is touched before somebody reads. */
function gathered(body: Readable): Readable {
  let pieces = new Pieces();
  let begun = false;
  const handOn = (): boolean => {
    const { bytes } = pieces;
    pieces = new Pieces();
    return stream.push(bytes);
  };
  const begin = (): void => {
    begun = true;
    body
      .on("data", (piece: Uint8Array) => {
        pieces.add(piece);
        if (pieces.size >= TOGETHER_BYTES && !handOn()) body.pause();
      })
      .on("end", () => {
        if (pieces.size > 0) handOn();
        stream.push(null);
      })
      .on("error", (error) => stream.destroy(error));
  };
  const stream = new Readable({
    read() {
      if (!begun) begin();
      body.resume();
    },
  });
  // Who reads listens for himself, and no more once he has refused it: of an error that nobody hears the process would end.
  return stream.on("error", () => undefined);
}

/**
 * Has an app hold about as much of a body as has come of it, whatever pieces its sender has cut it into.
 * @param app before its routes are added
 */
export function gatherBodies(app: FastifyInstance): void {
  // A body that nobody parses is left alone: node drops it, and the connection can be used again.
  app.addHook("preParsing", async (_request, _reply, payload) => gathered(payload as Readable));
}
