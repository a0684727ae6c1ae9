/** HTTPS on this machine, for agents that are named by https URLs. */
import { readFileSync } from "node:fs";
import { request as httpRequest } from "node:http";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import path from "node:path";

const fixture = (name: string): string => path.resolve(import.meta.dirname, "../net/fixtures", name);

/** Of `localhost`, for tests alone. */
export const tls = {
  key: readFileSync(fixture("loopback-test-only.key.pem"), "utf8"),
  cert: readFileSync(fixture("loopback-test-only.cert.pem"), "utf8"),
  certFile: fixture("loopback-test-only.cert.pem"),
};

/** Passes TLS on to a port of plain HTTP. */
export async function terminator(to: number): Promise<{ port: number; close: () => void }> {
  const server = createServer(tls, (incoming, outgoing) => {
    const { method, url, headers } = incoming;
    const passed = httpRequest({ host: "127.0.0.1", port: to, method, path: url, headers }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(outgoing);
    });
    passed.on("error", () => outgoing.destroy());
    incoming.pipe(passed);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const close = (): void => {
    server.close();
    server.closeAllConnections();
  };
  return { port: (server.address() as AddressInfo).port, close };
}
