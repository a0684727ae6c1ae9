/**
 * Calls of every tool that the library's seller answers: valid ones that name what it has told of, and the same with one
 * fault. Nothing may throw, no answer may break the release's schemas, and what is refused may change nothing.
 */
import { randomUUID } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { pino } from "pino";
import { loadSide } from "../../cli/diff/load.js";
import type { Sided } from "../../generator/diff/mend.js";
import { sided } from "../../generator/diff/prove.js";
import type { DiffSide } from "../../generator/diff/side.js";
import { generated } from "../../generator/diff/survive.js";
import type { ToolModel } from "../../generator/model/model.js";
import { behaviours, servedAreas } from "../../runtime/behaviours/areas.js";
import { openSeller } from "../../runtime/behaviours/index.js";
import { type AnyTool, type Release, shortVersion } from "../../runtime/contract/index.js";
import type { SellerHandler } from "../../runtime/seller/types.js";
import { openSqliteStore, type SqliteStore } from "../../runtime/store/index.js";
import { type JsonRecord, Known } from "../support/known.js";
import { choices } from "../support/random.js";
import { wholeReleaseIn } from "../support/whole-release.js";
import { fuzzedCatalogue } from "./seller-catalogue.js";
import { faulty } from "./seller-inputs.js";
import { requestOf, served } from "./seller-requests.js";

export interface SellerFuzz {
  /** Folders, manifest.json files or bundles of what one seller serves, the newest first. */
  readonly releases: readonly [string, ...string[]];
  /** Calls. */
  readonly count: number;
  readonly seed: number;
}

export interface SellerFuzzReport {
  readonly versions: readonly string[];
  readonly tools: number;
  readonly calls: number;
  /** Calls that a handler was given. */
  readonly handled: number;
  /** Of those, calls with a fault. */
  readonly handledFaulty: number;
  /** Calls that were not refused. */
  readonly answered: number;
  /** Tools of which no handler was given a call. */
  readonly unreached: readonly string[];
  readonly failures: readonly Failure[];
}

/** What went wrong, however often. */
export interface Failure {
  readonly what: string;
  times: number;
  /** The first call that showed it. */
  readonly example: string;
}

/** Valid requests made of each schema. */
const VARIANTS = 40;
const FAULTY_PART = 0.6;
/** Requests that are made anew for a call. */
const MADE_PART = 0.7;
/** Requests of which what no seller need offer is taken away. */
const SERVED_PART = 0.85;
/** Requests that name what perhaps another caller has. */
const OTHERS_PART = 0.1;
/** References that name nothing. */
const INVENTED_PART = 0.25;
const VERSIONLESS_PART = 0.95;
const SHOWN_CHARACTERS = 1_500;
/** Codes of faults that are the seller's own, whatever the caller sent. */
const OWN = new Set(["INVALID_ANSWER", "CONFIGURATION_ERROR", "SERVICE_UNAVAILABLE"]);

/** State that callers can come to see: which documents there are in which version, tasks, and what is to be sent. */
const STATE = `select (select count(*) from adbind_documents) as documents, (select total(version) from adbind_documents) as
  versions, (select count(*) from adbind_sent_tasks) as tasks, (select count(*) from adbind_jobs) as jobs`;

/** Specialisms that the library answers whole. */
export const specialismsOf = (release: Release): string[] =>
  Object.entries(release.specialisms)
    .filter(([, { role }]) => role === undefined)
    .map(([id]) => id)
    .filter((id) => servedAreas({ releases: [release], specialisms: [id] }).missing.length === 0);

const errorsOf = ({ errors }: JsonRecord): JsonRecord[] => (Array.isArray(errors) ? (errors as JsonRecord[]) : []);

/** A fault of the seller's own, by what it says in development, without what differs from call to call. */
const whatOf = ({ code, message, details }: JsonRecord): string => {
  const reason = (details as JsonRecord | undefined)?.reason;
  const said = reason === undefined ? String(message) : String(reason);
  return `${code}: ${said.replaceAll(/\/\d+(?=\/|\b)/g, "/*").slice(0, SHOWN_CHARACTERS)}`;
};

interface Answered {
  readonly failed: boolean;
  readonly payload: JsonRecord;
  /** Its handler was given the call. */
  readonly handled: boolean;
  readonly changed: boolean;
}

/** A seller of everything the library answers, and what its handlers are given. */
class Fuzzed {
  readonly offered = new Set<string>();
  readonly reached = new Set<string>();
  readonly #failures = new Map<string, Failure>();
  readonly #store: SqliteStore;
  #seller!: Awaited<ReturnType<typeof openSeller>>;
  #handled = false;

  constructor(folder: string) {
    this.#store = openSqliteStore({ path: path.join(folder, "seller.db") });
  }

  async open(release: Release, releases: readonly Release[]): Promise<void> {
    this.#seller = await openSeller({
      ...{ release, releases, specialisms: specialismsOf(release), with: behaviours.map(({ area }) => area) },
      ...{ database: this.#store, baseUrl: "https://seller.example", name: "Fuzzed seller", mode: "development" },
      ...{ logger: pino({ level: "silent" }), limits: { calls: false }, metrics: false },
      ports: { catalogue: fuzzedCatalogue },
      tools: (own) =>
        Object.fromEntries(
          Object.entries(own as Record<string, SellerHandler<AnyTool>>).map((one) => [one[0], this.#watched(...one)]),
        ),
    });
  }

  #watched(tool: string, handle: SellerHandler<AnyTool>): SellerHandler<AnyTool> {
    this.offered.add(tool);
    return (request, context) => {
      this.reached.add(tool);
      this.#handled = true;
      return handle(request, context);
    };
  }

  get failures(): readonly Failure[] {
    return [...this.#failures.values()].sort((a, b) => b.times - a.times);
  }

  fail(what: string, example = ""): void {
    const known = this.#failures.get(what);
    if (known === undefined) this.#failures.set(what, { what, times: 1, example });
    else known.times += 1;
  }

  async call(tool: string, args: JsonRecord, principal: string): Promise<Answered> {
    const before = JSON.stringify(this.#store.db.prepare(STATE).get());
    this.#handled = false;
    const called = await this.#seller.seller.call({ tool, args, transport: "mcp", identity: { principal } });
    const changed = JSON.stringify(this.#store.db.prepare(STATE).get()) !== before;
    return { failed: called.failed, payload: called.payload as JsonRecord, handled: this.#handled, changed };
  }

  async close(): Promise<void> {
    await this.#seller?.close();
    await this.#store.close();
  }
}

/** @throws Error for a release that cannot be read */
export async function fuzzSeller(given: SellerFuzz): Promise<SellerFuzzReport> {
  const folder = mkdtempSync(path.join(tmpdir(), "adbind-fuzz-"));
  const fuzzed = new Fuzzed(folder);
  const crashed = (error: unknown): void => fuzzed.fail(`outside of any call: ${String(error)}`);
  process.on("unhandledRejection", crashed);
  try {
    const sides = await Promise.all(given.releases.map((at) => loadSide(at)));
    const [newest, ...older] = await Promise.all(given.releases.map(async (at) => (await wholeReleaseIn(at)).release));
    await fuzzed.open(newest!, older);
    const served = [newest!, ...older];
    const tools = sides.map((side, at) => fuzzedTools(side, served[at]!, fuzzed.offered, older.length > 0));
    const { word } = newest!;
    const versions = [`${word}_version`, `${word}_major_version`] as const;
    const counts = await fuzzCalls(fuzzed, tools, { ...given, versions });
    const unreached = [...fuzzed.offered].filter((name) => !fuzzed.reached.has(name));
    const names = new Set(tools.flat().map(({ tool }) => tool.name));
    return {
      versions: served.map(({ version }) => version),
      ...{ tools: names.size, ...counts, unreached, failures: fuzzed.failures },
    };
  } finally {
    await fuzzed.close();
    process.off("unhandledRejection", crashed);
    rmSync(folder, { recursive: true, force: true });
  }
}

interface FuzzedTool {
  readonly tool: ToolModel;
  /** What a call of it pins, on a seller of several releases. */
  readonly pin: string | undefined;
  readonly of: Sided;
  /** Requests that its schema takes, the smallest and the largest among them. */
  readonly valid: readonly JsonRecord[];
}

/** Of one release, what the seller offers. */
const fuzzedTools = (
  side: DiffSide,
  { version }: Release,
  offered: ReadonlySet<string>,
  pinned: boolean,
): FuzzedTool[] =>
  side.model.tools
    .filter(({ name }) => offered.has(name))
    .map((tool): FuzzedTool => {
      const of = sided(side, tool.request);
      const valid = generated(of, VARIANTS) as JsonRecord[];
      return { tool, of, valid, pin: pinned ? shortVersion(version) : undefined };
    })
    .filter(({ valid }) => valid.length > 0);

interface CallsFuzz extends SellerFuzz {
  /** Members of a request that say which release it is of, as a line and as a major version. */
  readonly versions: readonly [string, string];
}

async function fuzzCalls(
  fuzzed: Fuzzed,
  all: readonly (readonly FuzzedTool[])[],
  { count, seed, versions }: CallsFuzz,
) {
  const counts = { calls: 0, handled: 0, handledFaulty: 0, answered: 0 };
  const random = choices(seed);
  const knownBy = { one: new Known(), two: new Known() };
  const principals = ["one", "two"] as const;
  for (; counts.calls < count; counts.calls++) {
    const tools = random.of(all);
    const { tool, of, valid, pin } = tools[counts.calls % tools.length]!;
    const taken = (random.chance(MADE_PART) ? requestOf(of, random) : undefined) ?? random.of(valid);
    const wanted = random.chance(SERVED_PART) ? served(taken) : taken;
    const principal = random.of(principals);
    const known = knownBy[random.chance(OTHERS_PART) ? random.of(principals) : principal];
    const some = <T>(all: readonly T[]): T | undefined => (random.chance(INVENTED_PART) ? undefined : random.of(all));
    const whole = known.referring(wanted, { text: some, thing: some }) as JsonRecord;
    if ("idempotency_key" in whole) whole.idempotency_key = randomUUID();
    // Most versions that a schema allows are not spoken: such calls would say the same again and again.
    if (random.chance(VERSIONLESS_PART)) for (const name of versions) delete whole[name];
    if (pin !== undefined) whole[versions[0]] = pin;
    const isFaulty = random.chance(FAULTY_PART);
    const { request, fault } = isFaulty ? faulty(whole, random) : { request: whole, fault: "none" };
    const at = `fault: ${fault}, ${JSON.stringify(request).slice(0, SHOWN_CHARACTERS)}`;
    try {
      const { failed, payload, handled, changed } = await fuzzed.call(tool.name, request, principal);
      if (handled) counts.handled += 1;
      if (handled && isFaulty) counts.handledFaulty += 1;
      const own = errorsOf(payload).find(({ code }) => OWN.has(String(code)));
      if (own !== undefined) fuzzed.fail(`${tool.name}: ${whatOf(own)}`, at);
      if (failed && changed) fuzzed.fail(`${tool.name}: refused, and something changed`, at);
      if (failed) continue;
      counts.answered += 1;
      knownBy[principal].note(payload);
    } catch (error) {
      fuzzed.fail(`${tool.name}: thrown, ${error instanceof Error ? error.stack : String(error)}`, at);
    }
  }
  return counts;
}
