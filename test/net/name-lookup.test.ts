/** Names asked of name servers: any number at once, stopped when nobody waits any more, and judged as ever. */

import { pbkdf2 } from "node:crypto";
import { writeFileSync } from "node:fs";
import { Socket } from "node:net";
import path from "node:path";
import { promisify } from "node:util";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { createGuardedFetch, type DialOptions, openNameLookup } from "../../runtime/net/index.js";
import { checkedPolicy } from "../../runtime/net/policy.js";
import { openDoctor } from "../../runtime/registry/crawl/index.js";
import { safetyCheck } from "../../runtime/registry/crawl/safety.js";
import { tempFolder } from "../support/release.js";
import { until } from "../support/until.js";
import { type Answer, type NameServer, type RecordType, startNameServer } from "./name-server.js";

const lookups = suite("a lookup of names");
const hostsFile = path.join(tempFolder(), "hosts");
writeFileSync(hostsFile, "# ours\n10.0.0.7 Near.example near # here\n::1 near.example\nnonsense far.example\n");
/** Longer than any test: what it takes part in does not wait for it. In milliseconds. */
const NEVER_MS = 60_000;

const both: Readonly<Record<string, Partial<Record<RecordType, Answer>>>> = {
  "two.example": { A: ["203.0.114.1"], AAAA: ["2606:4700::1"] },
  "one.example": { A: ["203.0.114.2"], AAAA: [] },
  "empty.example": { A: [], AAAA: [] },
  "half.example": { A: ["203.0.114.3"], AAAA: "silent" },
  "unsure.example": { A: "absent", AAAA: "silent" },
  "silent.example": { A: "silent", AAAA: "silent" },
  "inside.example": { A: ["203.0.114.4"], AAAA: ["fd00::1"] },
};

let server: NameServer;
lookups.before(async () => {
  server = await startNameServer((name, type) =>
    name.startsWith("deaf")
      ? "silent"
      : name.startsWith("many")
        ? ["203.0.114.9"].slice(Number(type === "AAAA"))
        : (both[name.toLowerCase()]?.[type] ?? "absent"),
  );
});
lookups.after(() => server.close());

const open = (timeoutMs = NEVER_MS) => openNameLookup({ servers: [server.address], timeoutMs, tries: 1, hostsFile });
const codeOf = (asked: Promise<unknown>): Promise<unknown> =>
  asked.then(
    () => "answered",
    (error) => error.code,
  );

lookups("both families of a name are found, or the one that it has or that is heard of", async () => {
  const { lookup, close } = open(3_000);
  assert.equal(await lookup("two.example"), [
    { address: "203.0.114.1", family: 4 },
    { address: "2606:4700::1", family: 6 },
  ]);
  const four = async (name: string) => (await lookup(name)).map(({ address }) => address);
  assert.equal(await Promise.all(["one.example", "half.example"].map(four)), [["203.0.114.2"], ["203.0.114.3"]]);
  close();
});

lookups("a name that is none is told from a server that says nothing", async () => {
  const names = openNameLookup({ servers: [server.address], timeoutMs: 3_000, tries: 1, hostsFile });
  const codes = ["none.example", "empty.example", "unsure.example", "silent.example"].map((name) =>
    codeOf(names.lookup(name)),
  );
  assert.equal(await Promise.all(codes), ["ENOTFOUND", "ENODATA", "ETIMEOUT", "ETIMEOUT"]);
  const safe = safetyCheck(names.lookup);
  const judged = ["none.example", "unsure.example", "inside.example", "two.example"].map(safe);
  assert.equal(await Promise.all(judged), ["unsafe", "unknown", "unsafe", "safe"]);
  names.close();
});

lookups("what holds the threads of the process holds no name up", async () => {
  let held = 8;
  const work = Array.from({ length: held }, () =>
    promisify(pbkdf2)("p", "s", 400_000, 64, "sha512").finally(() => {
      held -= 1;
    }),
  );
  const [{ address } = {}] = await checkedPolicy({}).lookup("localhost");
  assert.is(address, "127.0.0.1");
  assert.ok(held > 4, "the threads were free");
  await Promise.all(work);
});

lookups("a machine's settings are looked at again", async () => {
  const own = path.join(tempFolder(), "hosts");
  writeFileSync(own, "10.0.0.7 moved.example\n");
  const { now } = performance;
  let later = 0;
  performance.now = () => now.call(performance) + later;
  try {
    const { lookup, close } = openNameLookup({ servers: [server.address], tries: 1, hostsFile: own });
    const found = async () => (await lookup("moved.example")).map(({ address }) => address);
    writeFileSync(own, "10.0.0.8 moved.example\n");
    assert.equal(await found(), ["10.0.0.7"]);
    later = 30_000;
    assert.equal(await found(), ["10.0.0.8"]);
    const silent = lookup("silent.example").catch((error) => error.code);
    later = 60_000;
    assert.equal(await found(), ["10.0.0.8"]);
    // Who asks by what was set before is given up on as well.
    close();
    assert.is(await silent, "ECANCELLED");
  } finally {
    performance.now = now;
  }
});

lookups("names of the hosts file and of this machine are not asked for", async () => {
  const { lookup, close } = open();
  const before = server.asked.length;
  assert.equal(await lookup("NEAR.example."), [
    { address: "10.0.0.7", family: 4 },
    { address: "::1", family: 6 },
  ]);
  for (const name of ["localhost", "a.LOCALHOST"]) assert.is((await lookup(name))[0]!.address, "127.0.0.1");
  assert.is(server.asked.length, before);
  close();
});

lookups("dozens are asked for while a server is silent, and closing ends the wait for all", async () => {
  const { lookup, close } = open();
  const names = Array.from({ length: 80 }, (_, at) => `deaf${at}.example`);
  const codes = names.map((name) => codeOf(lookup(name)));
  await until(() => names.every((name) => server.asked.includes(name)));
  close();
  assert.equal(new Set(await Promise.all(codes)), new Set(["ECANCELLED"]));
  assert.is(await codeOf(lookup("two.example")), "ECANCELLED");
});

lookups("a thousand names that are asked for at once are all found", async () => {
  const { lookup, close } = open(5_000);
  const names = Array.from({ length: 1_000 }, (_, at) => `many${at}.example`);
  const found = await Promise.all(names.map((name) => lookup(name).catch((error) => [error])));
  assert.equal(found.filter(([one]) => one.address !== "203.0.114.9").length, 0);
  close();
});

lookups("a name of which one family is never heard is found all the same, soon", async () => {
  const { lookup, close } = open();
  assert.equal(await lookup("half.example"), [{ address: "203.0.114.3", family: 4 }]);
  close();
});

lookups("what is connected to is what was judged, and one address inside refuses the name", async () => {
  const dialled: DialOptions[] = [];
  const dial = (options: DialOptions): Socket => {
    dialled.push(options);
    return new Socket().destroy(new Error("far away"));
  };
  const { lookup, close } = open();
  const guarded = createGuardedFetch({ lookup, dial });
  const code = async (name: string) => {
    const result = await guarded(`https://${name}/`);
    return result.ok ? "answered" : result.code;
  };
  assert.is(await code("inside.example"), "address_refused");
  assert.is(await code("near.example"), "address_refused");
  assert.is(await code("localhost.example"), "dns_failed");
  assert.equal(dialled, []);
  const before = server.asked.length;
  assert.is(await code("two.example"), "connect_failed");
  assert.equal(
    dialled.map(({ addresses }) => addresses.map(({ address }) => address)),
    [["203.0.114.1", "2606:4700::1"]],
  );
  assert.is(server.asked.length, before + 2, "each family once");
  await guarded.close();
  close();
});

lookups("a doctor that is closed waits for no name", async () => {
  const doctor = openDoctor({ names: open() });
  const asked = doctor.atDomain("deafdoctor.com");
  await until(() => server.asked.includes("deafdoctor.com"));
  const started = performance.now();
  await doctor.close();
  assert.is((await asked).verdict, "unreachable");
  // The guarded fetch itself would wait for ten.
  assert.ok(performance.now() - started < 5_000);
});

lookups.run();
