/** Runs the cells of signing against one peer, and says of each that fails why. */
import type { Totals } from "../../../cli/closing-line.js";
import type { SignatureAlgorithm } from "../../../runtime/signing/index.js";
import { certificate } from "../../support/tls-seller.js";
import { agreeCells, forbiddenCells, ruleCells, type SigningCell, WORD } from "./cells.js";
import { makeKeys } from "./keys.js";
import type { SigningPeer } from "./peer.js";
import { type PythonPeer, preparePython, pythonPeer } from "./python.js";
import { discoveryCells } from "./tls-seller.js";
import { typescriptPeer } from "./typescript.js";
import { forbidden } from "./urls.js";

export const peerNames = ["python", "typescript"] as const;
export type PeerName = (typeof peerNames)[number];
export const algorithms: readonly SignatureAlgorithm[] = ["ed25519", "ecdsa-p256-sha256"];

interface Counted {
  passed: number;
  failed: number;
  skipped: number;
  known: number;
}

async function count(cells: readonly SigningCell[], totals: Counted): Promise<void> {
  for (const { name, known, run } of cells) {
    const fault = await run();
    if (fault === undefined) totals.passed++;
    else if (known !== undefined) {
      totals.known++;
      console.log(`known: ${name}: ${known}`);
    } else {
      totals.failed++;
      console.log(`FAILED: ${name}: ${fault}`);
    }
  }
}

/** @returns a peer, or why there is none */
async function open(name: PeerName): Promise<SigningPeer | PythonPeer | string> {
  if (name === "typescript") return typescriptPeer() ?? "@adcp/sdk is not installed under test/interop/peer";
  const missing = preparePython();
  return missing ?? (await pythonPeer(certificate));
}

async function judgeAlgorithm(peer: SigningPeer, alg: SignatureAlgorithm, totals: Counted): Promise<void> {
  const keys = await makeKeys(alg, WORD);
  const side = { peer, keys };
  const agree = agreeCells(side);
  const before = totals.passed;
  await count(agree, totals);
  console.log(`${alg}: ${totals.passed - before} of ${agree.length} signatures believed, both ways`);
  await count([...forbiddenCells(keys), ...ruleCells(side)], totals);
}

/** The peer finds the keys itself, behind TLS. */
async function judgeDiscovery(peer: PythonPeer, totals: Counted): Promise<void> {
  const cells = discoveryCells(peer, await makeKeys("ed25519", WORD));
  if (cells.length === 0) {
    totals.skipped++;
    console.log("skipped: no published releases to start sellers with; set ADBIND_CORPUS");
  }
  const before = totals.passed;
  await count(cells, totals);
  console.log(`behind TLS: ${totals.passed - before} of ${cells.length} sellers believed, known by their URL alone`);
}

export async function judgeSigning(name: PeerName, chosen: readonly SignatureAlgorithm[]): Promise<Totals> {
  const peer = await open(name);
  if (typeof peer === "string") {
    console.log(`skipped: ${peer}`);
    return { passed: 0, failed: 0, skipped: 1 };
  }
  const totals = { passed: 0, failed: 0, skipped: 0, known: 0 };
  try {
    console.log(`peer: ${peer.name}`);
    for (const [what, why] of Object.entries(peer.lacks)) console.log(`not judged: ${what}: ${why}`);
    for (const { url, reason } of forbidden) console.log(`forbidden: ${JSON.stringify(url)}: ${reason}`);
    for (const alg of chosen) await judgeAlgorithm(peer, alg, totals);
    if ("discover" in peer) await judgeDiscovery(peer, totals);
  } finally {
    await peer.close();
  }
  return totals;
}
