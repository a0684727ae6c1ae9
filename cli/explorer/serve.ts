/** A site of releases over HTTP, printed as it is asked for, and made anew when a file of a release changes. */
import { type FSWatcher, watch } from "node:fs";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import path from "node:path";
import type { Site } from "../../generator/explorer/site.js";
import { AdbindError } from "../../runtime/errors.js";
import { unusableAddress } from "../listening.js";

/** Milliseconds without a change after which releases are read again: a download writes many files. */
const QUIET_MS = 300;
/** Pages that may be open at once and wait to hear of a change. */
const MOST_LISTENERS = 100;
/** Milliseconds that a request may take to arrive. */
const REQUEST_LIMIT_MS = 30_000;

const types: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".json": "application/json; charset=utf-8",
  ".md": "text/markdown; charset=utf-8",
  ".txt": "text/plain; charset=utf-8",
};

const LIVE = '<script src="/assets/live.js" defer></script>\n';

const isLoopback = (host: string): boolean => /^(localhost|127(\.\d{1,3}){3}|::1|\[::1\])$/i.test(host);

export interface ServeOptions {
  readonly host: string;
  readonly port: number;
  /** Folders and files to watch. */
  readonly watched: readonly string[];
  /** Makes the site; called again after each change. */
  readonly make: () => Promise<Site>;
  /** Told of every reading, and of why one failed. */
  readonly tell: (line: string) => void;
}

export interface ExplorerServer {
  readonly url: string;
  close(): Promise<void>;
}

const fileOf = (url: string): string | undefined => {
  try {
    const name = decodeURIComponent(new URL(url, "http://explorer.invalid").pathname).slice(1);
    return name === "" || name.endsWith("/") ? `${name}index.html` : name;
  } catch {
    return undefined;
  }
};

/** What is served now, and who wants to hear of another. */
class Serving {
  site: Site = new Map();
  private readonly printed = new Map<string, string>();
  private readonly listeners = new Set<ServerResponse>();

  constructor(private readonly loopback: boolean) {}

  replace(site: Site): void {
    this.site = site;
    this.printed.clear();
    for (const listener of this.listeners) listener.write("data: changed\n\n");
  }

  close(): void {
    for (const listener of this.listeners) listener.end();
  }

  answer(request: IncomingMessage, response: ServerResponse): void {
    const plain = (status: number, text: string): void => {
      response.writeHead(status, { "content-type": types[".txt"] }).end(`${text}\n`);
    };
    // A page of elsewhere whose name leads to this machine must not read what lies on it.
    const host = (request.headers.host ?? "").replace(/:\d+$/, "");
    const file = fileOf(request.url ?? "/");
    if (this.loopback && !isLoopback(host)) plain(421, "not this host");
    else if (request.method !== "GET" && request.method !== "HEAD") plain(405, "only GET and HEAD");
    else if (file === "changes") this.listen(response);
    else this.page(file, request, response, () => plain(404, "no such page"));
  }

  private page(
    file: string | undefined,
    { method }: IncomingMessage,
    response: ServerResponse,
    missing: () => void,
  ): void {
    const text = file === undefined ? undefined : this.text(file);
    if (file === undefined || text === undefined) {
      missing();
      return;
    }
    const head = {
      "content-type": types[path.extname(file)] ?? "application/octet-stream",
      "cache-control": "no-store",
      "x-content-type-options": "nosniff",
    };
    response.writeHead(200, head).end(method === "HEAD" ? undefined : text);
  }

  private text(file: string): string | undefined {
    const known = this.printed.get(file);
    if (known !== undefined) return known;
    const text = this.site.get(file)?.();
    if (text === undefined) return undefined;
    const made = file.endsWith(".html") ? text + LIVE : text;
    this.printed.set(file, made);
    return made;
  }

  private listen(response: ServerResponse): void {
    if (this.listeners.size >= MOST_LISTENERS) {
      response.writeHead(503).end();
      return;
    }
    response.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-store" });
    response.write(": listening\n\n");
    this.listeners.add(response);
    response.once("close", () => this.listeners.delete(response));
  }
}

async function bound(server: Server, { host, port }: ServeOptions): Promise<string> {
  await new Promise<void>((resolve, reject) => {
    server.once("error", (cause) => reject(unusableAddress({ host, port }, cause) ?? cause));
    server.listen(port, host, resolve);
  });
  const { port: taken } = server.address() as AddressInfo;
  return `http://${host.includes(":") && !host.startsWith("[") ? `[${host}]` : host}:${taken}/`;
}

/** Calls back once things have been quiet for a while after a change. */
function watchAll(places: readonly string[], changed: () => void, tell: (line: string) => void): () => void {
  let timer: NodeJS.Timeout | undefined;
  const soon = (): void => {
    clearTimeout(timer);
    timer = setTimeout(changed, QUIET_MS);
  };
  const watchers = places.flatMap((place): FSWatcher[] => {
    try {
      return [
        watch(place, { recursive: true }, soon).on("error", (error) =>
          tell(`${place} is watched no more: ${error.message}`),
        ),
      ];
    } catch (error) {
      tell(`${place} cannot be watched: ${(error as Error).message}`);
      return [];
    }
  });
  return () => {
    clearTimeout(timer);
    for (const watcher of watchers) watcher.close();
  };
}

/**
 * Serves a site until it is closed.
 * @throws AdbindError address_unusable; what `make` throws the first time, after which a site that cannot be made is told and the one before stays
 */
export async function serveExplorer(options: ServeOptions): Promise<ExplorerServer> {
  const { host, watched, make, tell } = options;
  const serving = new Serving(isLoopback(host));
  serving.replace(await make());
  const server = createServer({ requestTimeout: REQUEST_LIMIT_MS }, (request, response) => {
    try {
      serving.answer(request, response);
    } catch (error) {
      tell(`${request.url}: ${error instanceof Error ? error.message : error}`);
      if (!response.headersSent) response.writeHead(500);
      response.end();
    }
  });
  const url = await bound(server, options);
  let making = Promise.resolve();
  const remake = async (): Promise<void> => {
    try {
      serving.replace(await make());
      tell("read again");
    } catch (error) {
      if (!(error instanceof AdbindError)) throw error;
      tell(`not read again: ${error.message}`);
    }
  };
  const changed = (): void => {
    making = making.then(remake);
  };
  const stop = watchAll(watched, changed, tell);
  return {
    url,
    async close() {
      stop();
      await making;
      serving.close();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
