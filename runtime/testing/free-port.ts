/** A port of this machine that nobody listens on now. */
import { randomInt } from "node:crypto";
import { createServer } from "node:net";

/** Ports below those that a system gives out by itself: whoever listens on any port it is given never has one of these. */
const [FIRST, LAST] = [11_000, 19_000];
const TRIES = 100;
/** Given out by this process: whoever asked may listen on it later. */
const given = new Set<number>();

const isFree = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const server = createServer();
    server.on("error", () => resolve(false));
    server.listen(port, "127.0.0.1", () => server.close(() => resolve(true)));
  });

/** A port of this machine that nobody listens on at the moment; another one each time. @throws Error where none is found */
export async function freePort(): Promise<number> {
  for (let tries = 0; tries < TRIES; tries++) {
    const port = randomInt(FIRST, LAST);
    if (given.has(port) || !(await isFree(port))) continue;
    given.add(port);
    return port;
  }
  throw new Error(`of the ports ${FIRST} to ${LAST} none was found free`);
}
