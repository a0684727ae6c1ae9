/** No promise of ours is waited for by nobody: an error is told where it happens, never by the end of the process. */
import { globSync, readFileSync } from "node:fs";
import path from "node:path";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { findings, findingsIn, programOf } from "./promises.js";

const root = path.resolve(import.meta.dirname, "../..");
const sources = globSync("{runtime,cli,generator,templates}/**/*.ts", {
  cwd: root,
  // A project's tests are declared to node's runner, which waits for them.
  exclude: (name) => name === "node_modules" || /^templates\/\w+\/test$/.test(name),
});

test("nothing in runtime, cli, generator and the projects of templates leaves a promise alone", () => {
  const found = findings(root, programOf(root, sources), sources);
  assert.equal(
    found.map(({ where, what }) => `${where}: ${what}`),
    [],
  );
});

test("nobody catches at the end of the process what should be told where it happens, but commands to print a line", () => {
  const offenders = sources.filter(
    (file) =>
      !["cli/main.ts", "cli/script.ts"].includes(file) &&
      /["'](unhandledRejection|uncaughtException)["']/.test(readFileSync(path.join(root, file), "utf8")),
  );
  assert.equal(offenders, []);
});

const given = `
  type MaybePromise<T> = T | Promise<T>;
  type Flow<T> = Generator<Promise<unknown>, T, unknown>;
  declare const ask: (what: string) => Promise<string[]>;
  declare const maybe: (what: string) => MaybePromise<string[]>;
  declare const settle: <T>(value: MaybePromise<T>) => Flow<T>;
  declare const each: (job: () => void) => void;
  declare const tell: (error: unknown) => void;
`;

const all = "const all: Promise<unknown>[] = [];";
const set = "const set = new Set<unknown>();";
const both = "await Promise.all(all);";

const bad: readonly (readonly [about: string, lines: string, what: RegExp])[] = [
  ["a statement", "ask('a');", /nobody waits/],
  ["one that is a promise at times only", "maybe('a');", /nobody waits/],
  ["a then without a second handler", "ask('a').then(tell);", /nobody waits/],
  ["a void", "void ask('a');", /void hides/],
  ["a finally", "void ask('a').finally(() => tell(1));", /void hides/],
  ["a flow that is not run", "function* flow(): Flow<void> { settle(ask('a')); }", /not run/],
  ["an array that is waited for in turn", "for (const one of [ask('a'), maybe('b')]) await one;", /in an array/],
  ["an array that is handed on", "const go = () => [ask('a'), ask('b')];", /in an array/],
  ["an array made by map", "const all = ['a'].map(ask); await ask('b'); await Promise.all(all);", /in an array/],
  ["a type that swallows the promise", "type Sweep = () => MaybePromise<unknown>[];", /unknown is unknown/],
  ["a cast", "settle(ask('a') as never).next();", /cast/],
  ["an asynchronous listener", "each(async () => { await ask('a'); });", /does not wait/],
  ["a listener that answers one", "each(() => ask('a'));", /does not wait/],
  ["one by its name", "const go = () => ask('a'); each(go);", /does not wait/],
  ["one started early", "const a = ask('a'); await ask('b'); await a;", /looked at only after/],
  ["one kept by an assignment", "let a; a = ask('a'); await ask('b'); await a;", /looked at only after/],
  ["one of an object's members", "const o = { a: ask('a') }; await ask('b'); await o.a;", /looked at only after/],
  [
    "members that are waited for in turn",
    "const o = { a: ask('a'), b: ask('b') }; await o.a; await o.b;",
    /in an object/,
  ],
  ["an array it is pushed on", `${all} all.push(ask('a')); for (const one of all) await one;`, /in a collection/],
  [
    "an array that waits in its loop",
    `${all} for (const a of 'ab') { all.push(ask(a)); await ask(a); } ${both}`,
    /in a coll/,
  ],
  [
    "a loop that waits before the next push",
    `${all} for (const a of 'ab') { await tell(a); all.push(ask(a)); } ${both}`,
    /in a coll/,
  ],
  ["an array gathered after a wait", `${all} all.push(ask('a')); await ask('b'); ${both}`, /in a collection/],
  [
    "a set of the object's own",
    "class A { #a = new Set<unknown>(); go() { this.#a.add(ask('a')); } }",
    /in a collection/,
  ],
  [
    "a variable that only takes it out again",
    `${set} const a = ask('a').finally(() => set.delete(a)); set.add(a);`,
    /in a coll/,
  ],
  [
    "a listener that is assigned",
    "const x = { tell: () => {} }; x.tell = async () => { await ask('a'); };",
    /does not wait/,
  ],
  ["a listener in a variable", "const go: () => void = async () => { await ask('a'); };", /does not wait/],
  ["a listener that is a method", "const x: { go(): void } = { async go() { await ask('a'); } };", /does not wait/],
  [
    "a listener that is named as a member is",
    "const go = () => ask('a'); const x: { go(): void } = { go };",
    /does not wait/,
  ],
  ["a listener that is answered", "const make = (): (() => void) => () => ask('a');", /does not wait/],
];

const good: readonly string[] = [
  "await ask('a');",
  "ask('a').catch(tell);",
  "ask('a').then(tell, tell);",
  "void ask('a').catch(tell).finally(() => tell(1));",
  "function* flow(): Flow<string[]> { return yield* settle(maybe('a')); }",
  "await Promise.all([ask('a'), ...['b'].map(ask)]);",
  "await Promise.allSettled(Array.from({ length: 2 }, () => ask('a')));",
  "each(() => ask('a').catch(tell));",
  "each(() => { tell(1); });",
  "let kept: Promise<string[]> | undefined; kept = ask('a'); await kept;",
  "const a = ask('a').catch(tell); await ask('b'); await a;",
  "const both = Promise.all([ask('a'), ask('b')]); await both;",
  `${all} all.push(ask('a')); all.push(ask('b')); ${both}`,
  `await ask('a'); ${all} for (const a of 'ab') all.push(ask(a)); ${both} await ask('b');`,
  `${all} for (const a of 'ab') { all.push(ask(a)); if (all.length > 1) await Promise.race(all); } ${both}`,
  `const go = () => { ${all} all.push(ask('a')); return Promise.all(all); };`,
  `${set} set.add(ask('a').catch(tell)); await ask('b');`,
  `${set} const a = ask('a'); set.add(a); a.then(tell, tell); await ask('b');`,
  "const cache = new Map<string, Promise<string[]>>(); const go = () => { const a = ask('a'); cache.set('a', a); return a; };",
  "const o = { a: ask('a'), at: 1 }; await o.a;",
  "const [a, b] = await Promise.all([ask('a'), ask('b')]); const o = { a, b }; tell(o);",
  "const x = { tell: () => {} }; x.tell = () => { tell(1); };",
  "const go: () => Promise<unknown> = async () => { await ask('a'); };",
];

/** What the rules say of a few lines, besides those every example begins with. */
const judged = findingsIn([...bad.map(([, lines]) => lines), ...good].map((lines) => given + lines)).map((found) =>
  found.map(({ what }) => what),
);

for (const [at, [about, , what]] of bad.entries()) {
  test(`a promise that nobody waits for is found in ${about}`, () => {
    const [first, ...more] = judged[at]!;
    assert.match(first ?? "nothing", what);
    assert.equal(more, []);
  });
}

for (const [at, lines] of good.entries())
  test(`no fault is found in ${lines}`, () => assert.equal(judged[bad.length + at], []));

test.run();
