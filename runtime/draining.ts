/** The end of an HTTP server: answers under way are given, and nobody who has asked nothing holds it up. */
import { finished } from "node:stream";
import type { FastifyInstance } from "fastify";

/** How long a request may still come in once the server ends, in milliseconds: well below the ten seconds that containers are given. */
const COMING_IN_MS = 2_000;

/**
 * Has an app's `close` cut the connections on which no whole request is. Node's own deadlines end with the server: a connection
 * that says nothing, or half of a request, would be waited for without end.
 * @param app before its routes are added
 */
export function drainInTime(app: FastifyInstance): void {
  const underWay = new Set<object>();
  let late = false;
  const cut = (): void => {
    if (late && underWay.size === 0) app.server.closeAllConnections();
  };
  // By then the body has been read.
  app.addHook("preValidation", async (_request, { raw }) => {
    underWay.add(raw);
    finished(raw, () => {
      underWay.delete(raw);
      cut();
    });
  });
  app.addHook("preClose", async () => {
    const end = (): void => {
      late = true;
      cut();
    };
    setTimeout(end, COMING_IN_MS).unref();
  });
}
