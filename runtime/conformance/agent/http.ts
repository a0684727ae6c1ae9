/** HTTP to agents under test: their own addresses, private ones too, as the command line names them. */

import { lookup as systemLookup } from "node:dns";
import { isIP } from "node:net";
import { Agent, fetch as undiciFetch } from "undici";

export interface HttpOptions {
  /** Host name -> address, before the system's resolver is asked. */
  readonly resolve?: Readonly<Record<string, string>>;
  /** Certificates trusted beside the system's, PEM. */
  readonly ca?: string | undefined;
}

export interface HttpClient {
  readonly fetch: typeof globalThis.fetch;
  close(): Promise<void>;
}

/** Makes the fetch of a run. */
export async function createHttp({ resolve = {}, ca }: HttpOptions): Promise<HttpClient> {
  const { rootCertificates } = await import("node:tls");
  const agent = new Agent({
    // A connection for each request: one that stood idle may be closed by the agent just when it is used again.
    pipelining: 0,
    connect: {
      ...(ca !== undefined && { ca: [...rootCertificates, ca] }),
      lookup: (host, options, done) => {
        const address = resolve[host];
        if (address === undefined) return systemLookup(host, options, done);
        const family = isIP(address);
        return options.all ? done(null, [{ address, family }]) : done(null, address, family);
      },
    },
  });
  const fetch = (input: unknown, init?: object) =>
    undiciFetch(input as string, { ...init, dispatcher: agent } as Parameters<typeof undiciFetch>[1]);
  return { fetch: fetch as unknown as typeof globalThis.fetch, close: () => agent.close() };
}

export const headersOf = (response: Response): Record<string, string> => Object.fromEntries(response.headers);

/** Bytes of a probe's answer that are read. */
const PROBE_BYTES = 64 * 1024;
/** Milliseconds a probe may take. */
export const PROBE_MS = 10_000;

/** The start of a body, as text. */
export async function readStart(response: Response, maxBytes = PROBE_BYTES): Promise<string> {
  if (response.body === null) return "";
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>) {
    chunks.push(chunk);
    size += chunk.byteLength;
    if (size >= maxBytes) break;
  }
  return Buffer.concat(chunks).subarray(0, maxBytes).toString("utf8");
}
