/** The order inside a room: from the bottom up, a rank imports its own rank and those below it. */
import { within } from "./rooms.js";
import type { Finding, Rule, Source } from "./source.js";

/**
 * Ranks of each room, bottom first; names in one rank are parted by blanks. A folder ends in `/` and must be named;
 * `*` is every file that no rank names. A rank is where a thing belongs, not where it happens to stand: what imports
 * upwards today is on the list of exceptions.
 */
const ranks: Readonly<Record<string, readonly string[]>> = {
  "generator/": [
    "finding",
    "load/",
    "model/",
    "lint/",
    "emit/ diff/",
    "explorer/",
    "result",
    "run",
    "scaffold/",
    "index",
  ],
  "generator/load/": ["walk read-json", "archive checksum find", "files", "*", "load", "facts meta-schema part"],
  "generator/model/": ["shape", "model", "*", "facts/", "build", "atlas"],
  "generator/model/facts/": ["read versions", "*", "derive"],
  "generator/lint/": ["*", "checks", "check", "release"],
  "generator/diff/": [
    "part texts finding rules",
    "flat",
    "form sample",
    "change alternatives",
    "compare-value condition-text",
    "compare-object compare-union",
    "compare",
    "mend",
    "witness",
    "*",
    "diff",
  ],
  "generator/explorer/": [
    "markup address type-text",
    "conditions book example",
    "fields",
    "views",
    "*",
    "history pages/",
    "markdown",
    "site",
  ],
  "generator/explorer/pages/": ["layout fields", "tool", "*"],
  "generator/emit/": ["names layout", "types/ symbols render plan-files", "*", "plan", "disk disk-swap"],
  "generator/scaffold/": ["texts template-files", "*", "scaffold", "new-buyer", "index"],
  "cli/": [
    "output listening",
    "release/",
    "diff/",
    "explorer/ explain/ upgrade/",
    "*",
    "check/ check",
    "conform/ conform",
    "agent/",
    "call tools auth new deliver",
    "event-sample",
    "webhook-events",
    "webhook-send",
    "webhook",
    "commands",
    "demo/",
    "demo soak main",
    "bin dev/",
  ],
  "runtime/contract/": ["*", "index"],
  "runtime/db/": ["*", "sqlite/ postgres/", "open", "urls", "index"],
  "runtime/net/": ["address codes name-lookup", "policy", "*", "index"],
  "runtime/validate/": ["types maker missing json-text date-time judge", "precompiled/", "*", "index"],
  "runtime/facts/": ["*", "index"],
  "runtime/extract/": ["json-object", "*", "retry", "index"],
  "runtime/signing/": [
    "types base base64 codes fields",
    "*",
    "discovery/",
    "sign verify",
    "legacy",
    "standard-webhooks",
    "signing common",
    "index web",
  ],
  "runtime/signing/discovery/": ["document maybe", "fetch-json", "*", "index"],
  "runtime/store/": [
    "event expiring",
    "types keys jobs rows profile-row expiry sweep-clock lease-watch clock-watch access sent-tasks guard alone keyspace-counts migrations/",
    "sqlite/ postgres/",
    "*",
    "split/",
    "index",
  ],
  "runtime/store/split/": [
    "placement",
    "rows indexes",
    "elsewhere member copy",
    "tables copy-log nonce-rows",
    "principal-jobs receiver-tables",
    "principal-tables",
    "kinds",
    "set",
    "router move",
    "ids receiver-part receiver-guard principal-part",
    "take registrations principal-nonces",
    "*",
  ],
  "runtime/queue/": [
    "each jobs evicting endpoint-options",
    "ordering-keys",
    "types leased",
    "sqlite/ postgres/ nats/",
    "*",
    "index",
  ],
  "runtime/receiver/": [
    "types fields",
    "tracing",
    "metrics",
    "*",
    "receive expect watch",
    "receiver",
    "node fastify",
    "index",
  ],
  "runtime/transport/": ["fault rpc", "caller answerer", "mcp/ a2a/", "callers answerers"],
  "runtime/transport/mcp/": ["eras results listing/", "*", "answer call"],
  "runtime/transport/mcp/listing/": ["schema-place", "merge-schemas holds", "least-schema", "*", "listing"],
  "runtime/transport/a2a/": ["task card", "*", "handler", "answer call"],
  "runtime/testing/": ["key free-port", "sign", "forge", "*", "seller", "index"],
  "runtime/sender/": [
    "secret-keys report-types",
    "types",
    "*",
    "channels tasks",
    "deliver",
    "sender",
    "split/",
    "create",
    "index",
  ],
  "runtime/behaviours/": [
    "ports/",
    "frame/",
    "key-files",
    "accounts/ formats/ principals/ controller/ signing-key health metrics environment",
    "products/ signals/ changes/ lists/ standards/ governance/",
    "properties/ collections/ brands/ conversations/",
    "provenance/",
    "library/",
    "previews/",
    "buys/",
    "reporting/",
    "delivery/ creatives/ usage/ artifacts/ audiences/ events/ catalogs/",
    "building/ financials/",
    "media-buys/",
    "lifecycle/",
    "areas",
    "assembled report-source",
    "options",
    "declared",
    "open",
    "index",
  ],
  "runtime/behaviours/ports/": [
    "*",
    "example-brands example-catalogue example-conversations example-formats example-properties example-signals plan-policies",
    "plain-policies example-transformers",
    "index",
  ],
  "runtime/behaviours/frame/": [
    "shape documents effects words items-in page upstream patience",
    "call",
    "collection behaviour changes invalid jws line-error seldom repetition",
    "forced",
    "index",
  ],
  "runtime/buyer/": [
    "told-envelope",
    "completions",
    "pin consent",
    "oauth/",
    "call-thread intent webhooks",
    "types",
    "platform derived-id",
    "node-platform web-platform",
    "settings fault wire",
    "*",
    "call",
    "reconcile",
    "create",
    "each",
    "node web",
    "rotate",
    "index",
  ],
  "runtime/seller/": [
    "audit-entry arms",
    "types",
    "*",
    "task-changes",
    "later-work",
    "tasks",
    "agent-tasks call",
    "server",
    "create",
    "index",
  ],
  "runtime/conformance/": [
    "document equality paths substitution check/ cache-place",
    "agent/ load schemas",
    "result checks/",
    "gates select faulty-steps faulty invariants-status invariants-impairment invariants tool-names captures controller fixture-matching",
    "fixtures",
    "*",
    "probes/",
    "own-tasks",
    "step-gates vector-signature",
    "vectors step branches",
    "storyboard",
    "report/ buyer/",
    "run",
    "index",
  ],
  "runtime/registry/": [
    "client-places",
    "file-problems json-bytes json-items client checked-types file-types follow-types listed-types member-types page-types search-types types",
    "model",
    "crawl/ probe/ search/ contribution",
    "project",
    "feed/",
    "*",
    "data",
    "server/ transfer/",
    "index",
  ],
  "runtime/registry/crawl/": ["document types values", "*", "crawl attempts inspect", "crawler", "index"],
  "runtime/registry/feed/": ["cursor changes", "*"],
  "runtime/registry/server/": [
    "*",
    "pages/",
    "settings replies",
    "auth/",
    "api-request config-table config",
    "upkeep routes/",
    "operations",
    "app part-app",
    "index",
  ],
};

/** The longest room that holds a path and has ranks. */
const roomOf = (path: string): string | undefined =>
  Object.keys(ranks)
    .filter((room) => within(room, path))
    .sort((left, right) => right.length - left.length)[0];

/** What a path is called in a room: a folder with its `/`, or a file without its ending. */
const nameIn = (room: string, path: string): string => {
  const rest = path.slice(room.length);
  const slash = rest.indexOf("/");
  return slash < 0 ? rest.replace(/\.ts$/, "") : rest.slice(0, slash + 1);
};

function rankOf(room: string, name: string): number {
  const order = ranks[room] ?? [];
  const named = order.findIndex((rank) => rank.split(" ").includes(name));
  return named >= 0 || name.endsWith("/") ? named : order.indexOf("*");
}

/** Ranks hold in the innermost room that both ends share. */
function upward(room: string, file: Source): Finding[] {
  const own = nameIn(room, file.path);
  return file.imports.flatMap((used) => {
    if (used.file === undefined || !within(room, used.file)) return [];
    const other = nameIn(room, used.file);
    if (other === own || rankOf(room, other) <= rankOf(room, own)) return [];
    const message = `imports ${used.file}, which stands above it in ${room}: move what it needs down`;
    return [{ key: `${file.path} -> ${used.file}`, file: file.path, line: used.line, message }];
  });
}

function unranked(file: Source): Finding[] {
  if (!/^(runtime|generator)\/./.test(file.path) || /^runtime\/[^/]+$/.test(file.path)) return [];
  const room = roomOf(file.path);
  const name = room === undefined ? file.path : nameIn(room, file.path);
  if (room !== undefined && rankOf(room, name) >= 0) return [];
  const missing = room === undefined ? `${file.path.split("/").slice(0, 2).join("/")}/` : room + name;
  const message = `${missing} has no rank: give it one in test/house/ranks.ts`;
  return [{ key: missing, file: file.path, line: 1, message }];
}

/** Every room of a path that has ranks. */
export const roomsOf = (path: string): string[] => Object.keys(ranks).filter((room) => within(room, path));

/** Imports within a room of runtime/ and generator/ go down its ranks, type-only ones too. */
export const ranksRule: Rule = (sources) =>
  sources.flatMap((file) => [...unranked(file), ...roomsOf(file.path).flatMap((room) => upward(room, file))]);
