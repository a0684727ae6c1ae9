/** A client that costs the machine as little as can be: it reads answers and keeps nothing of them. */
import http from "node:http";

export interface Reader {
  /** @returns bytes of the answer's body; rejects unless it is a 200 */
  read(path: string, body?: string): Promise<number>;
  close(): void;
}

/** Connections to one server, kept. An answer gathered into one buffer would have the collector stop this process. */
export function createReader(origin: string, headers: Readonly<Record<string, string>> = {}): Reader {
  const { hostname, port } = new URL(origin);
  const agent = new http.Agent({ keepAlive: true, maxSockets: 64 });
  return {
    read: (path, body) =>
      new Promise((resolve, reject) => {
        const method = body === undefined ? "GET" : "POST";
        const request = http.request({ hostname, port, path, method, headers, agent }, (answer) => {
          let bytes = 0;
          answer.on("data", (chunk: Buffer) => {
            bytes += chunk.length;
          });
          answer.on("end", () => {
            if (answer.statusCode === 200) resolve(bytes);
            else reject(new Error(`${method} ${path}: ${answer.statusCode}`));
          });
          answer.on("error", reject);
        });
        request.on("error", reject);
        request.end(body);
      }),
    close: () => agent.destroy(),
  };
}
