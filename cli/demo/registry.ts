/** A registry as an operator would run it: filled by `adbind registry import`, an account, then `serve`. */
import path from "node:path";
import { createRegistryClient, type RegistryClient } from "../../runtime/registry/client.js";
import { adbind, root, type Started, start } from "./processes.js";

export interface RunningRegistry extends Started {
  readonly url: string;
  readonly client: RegistryClient;
}

/** @param store `sqlite:<file>` or `postgres://...` */
export async function startRegistry(store: string, inventory: string, port: number): Promise<RunningRegistry> {
  await adbind(["registry", "import", inventory, "--store", store]);
  const organization = (
    await adbind(["registry", "orgs", "create", "Demo buyer", "--tier", "company_standard", "--store", store])
  ).trim();
  const made = await adbind(["registry", "keys", "create", organization, "demo", "--store", store]);
  const token = /sk_[A-Za-z0-9_-]+/.exec(made)?.[0];
  if (token === undefined) throw new Error(`no key in:\n${made}`);
  const url = `http://127.0.0.1:${port}`;
  // The publishers are made up: there is nothing to crawl.
  const serve = ["registry", "serve", "--store", store, "--port", String(port), "--crawl", "off"];
  const started = await start(path.join(root, "cli/main.ts"), serve, { ready: /^registry\s/ });
  return { ...started, url, client: createRegistryClient({ baseUrl: url, token }) };
}
