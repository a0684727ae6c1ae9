/**
 * `./run interop PEER --part life`: an official client, untouched, before sellers as `adbind new seller` makes them and `npm start`
 * starts them: of one release and of several, over http without an identity and behind TLS with one, over MCP and A2A.
 */
import { readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import type { Totals } from "../../../cli/closing-line.js";
import { newSeller } from "../../../generator/scaffold/index.js";
import { transportNames } from "../../../runtime/contract/index.js";
import { freePort } from "../../../runtime/testing/free-port.js";
import { projectsFolder, startSeller } from "../../conformance/served-seller.js";
import { corpus, publishedReleases } from "../../support/corpus.js";
import { terminator, tls } from "../../support/tls-terminator.js";
import type { PeerName } from "../signing/judge.js";
import { HOST, type LifeClient, type Lived } from "./client.js";
import { pythonClient } from "./python.js";
import { typescriptClient } from "./typescript.js";

interface Known {
  readonly peer: PeerName;
  readonly step: string;
  readonly why: string;
}

const TOKEN = "token-of-the-buyer-0123456789";
/** Releases of a seller, newest first. */
const sellers = [["3.0.26"], ["3.1.19"], ["3.2.4"], ["3.2.4", "3.1.19", "3.0.26"]] as const;

interface Served {
  readonly base: string;
  readonly token: string | null;
  readonly agent: boolean;
  stop(): Promise<void>;
}

const plainly = async (folder: string): Promise<Served> => {
  const { url, stop } = await startSeller(folder, { TOKENS: undefined, MODE: "development" });
  return { base: url.replace(/\/mcp$/, ""), token: null, agent: false, stop };
};

/** With credentials and an https URL, so that others can believe who it is. */
async function behindTls(folder: string): Promise<Served> {
  const port = await freePort();
  const front = await terminator(port);
  const base = `https://${HOST}:${front.port}`;
  try {
    const { stop } = await startSeller(folder, {
      ...{ PORT: String(port), BASE_URL: base, MODE: "development", NODE_EXTRA_CA_CERTS: tls.certFile },
      TOKENS: JSON.stringify({ [TOKEN]: "buyer" }),
    });
    return {
      ...{ base, token: TOKEN, agent: true },
      async stop() {
        front.close();
        await stop();
      },
    };
  } catch (error) {
    front.close();
    throw error;
  }
}

const places = { "over http": plainly, "behind TLS": behindTls } as const;

interface Counted {
  passed: number;
  failed: number;
  known: number;
}

const list = JSON.parse(readFileSync(path.join(import.meta.dirname, "known.json"), "utf8")) as Known[];

/** Tells of a life, step by step where something went wrong. */
function tell(totals: Counted, peer: PeerName, cell: string, { steps, known }: Lived): void {
  for (const [step, fault] of Object.entries(steps)) {
    const excuse = list.find((one) => one.peer === peer && one.step === step);
    if (fault !== null) {
      totals.failed++;
      console.log(`FAILED ${cell}, ${step}: ${fault}`);
    } else if (known[step] === undefined) totals.passed++;
    else if (excuse === undefined) {
      totals.failed++;
      console.log(`FAILED ${cell}, ${step}: not in known.json: ${known[step]}`);
    } else {
      totals.known++;
      console.log(`known  ${cell}, ${step}: ${excuse.why}`);
    }
  }
  if (Object.values(steps).every((fault) => fault === null))
    console.log(`ok     ${cell}: ${Object.keys(steps).length} steps`);
}

async function judgeSeller(client: LifeClient, peer: PeerName, versions: readonly string[], totals: Counted) {
  const projects = projectsFolder(tmpdir());
  const folder = path.join(projects, "seller");
  const [release, ...releases] = versions.map((version) => path.join(corpus, "releases", version));
  try {
    await newSeller({ folder, release: release!, releases, specialisms: ["sales_guaranteed"] });
    for (const [place, serve] of Object.entries(places)) {
      const { base, token, agent, stop } = await serve(folder);
      try {
        for (const protocol of transportNames)
          for (const line of client.lines(versions)) {
            const url = `${base}/${protocol}`;
            const question = { url, protocol, line, release: versions[0]!, token, agent: agent ? url : null };
            const cell = `${versions.join(" + ")} ${place} over ${protocol}, ${line ?? "by default"}`;
            tell(totals, peer, cell, await client.live(question));
          }
      } finally {
        await stop();
      }
    }
  } finally {
    rmSync(projects, { recursive: true, force: true });
  }
}

/** @param seller versions of one, joined by commas; all of them by default */
export async function judgeLife(peer: PeerName, seller?: string): Promise<Totals> {
  const opened = await (peer === "python" ? pythonClient() : typescriptClient());
  const totals = { passed: 0, failed: 0, known: 0 };
  if (typeof opened === "string") {
    console.error(`the ${peer} SDK cannot be had: ${opened}`);
    return { ...totals, failed: 1 };
  }
  console.log(opened.name);
  const there = publishedReleases().map((folder) => path.basename(folder));
  try {
    const wanted = sellers.filter((all) => seller === undefined || all.join(",") === seller);
    for (const versions of wanted.filter((all) => all.every((one) => there.includes(one))))
      if (opened.lines(versions).length > 0) await judgeSeller(opened, peer, versions, totals);
  } finally {
    await opened.close();
  }
  return totals;
}
