/** Who is compared: this package's own sender, and the queues of test/interop/queues where they are installed. */
import { existsSync } from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { loop } from "./loop-contender.js";
import type { Contender } from "./queue-contender.js";
import { ours } from "./sender-contender.js";

const folder = path.join(import.meta.dirname, "..", "..", "test", "interop", "queues");

export const hasPeers = (): boolean => existsSync(path.join(folder, "node_modules", "pg-boss"));

/** Packages of their own, which nothing else loads. */
const peers = async (): Promise<Contender[]> => {
  const { pgBoss, graphile } = (await import(pathToFileURL(path.join(folder, "peers.ts")).href)) as Readonly<
    Record<"pgBoss" | "graphile", Contender>
  >;
  return [pgBoss, graphile];
};

/** @param name of `adbind`, `loop`, `pg-boss`, `graphile-worker` */
export async function contender(name: string): Promise<Contender> {
  const own = [ours, loop].find((one) => one.name === name);
  if (own !== undefined) return own;
  const found = (await peers()).find((peer) => peer.name === name);
  if (found === undefined) throw new Error(`no queue is called ${name}`);
  return found;
}

export const contenders = async (): Promise<Contender[]> => [ours, ...(await peers())];
