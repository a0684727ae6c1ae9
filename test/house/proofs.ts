/** Sources that break each rule of the house, and sources that keep it; rules.test.ts holds the rules against them. */
import type { RuleName } from "./rules.js";

interface Proof {
  readonly breaks: Readonly<Record<string, string>>;
  /** What the failures say, one each. */
  readonly says: readonly RegExp[];
  readonly keeps: Readonly<Record<string, string>>;
}

export const lines = (count: number): string => "void 0;\n".repeat(count);
const fn = (count: number): string => `{\n${lines(count - 2)}}`;

export const proofs: Readonly<Record<RuleName, Proof>> = {
  "imports point downwards between rooms": {
    breaks: {
      "runtime/net/a.ts": 'import { x } from "../store/x.js";',
      "runtime/store/b.ts": 'export * from "../seller/x.js";',
      "runtime/buyer/c.ts": 'const x = await import("../seller/x.js");',
      "runtime/seller/d.ts": 'import { Runtime } from "../../generated/3.1.0/index.js";',
      "generator/emit/e.ts": 'type X = import("../load/x.js").X;',
      "runtime/newroom/f.ts": "",
      "runtime/facts/g.ts": 'import { release } from "#bindings";',
      "runtime/facts/h.ts": 'import { x } from "#room/store/x"; import { y } from "#elsewhere";',
      "runtime/db/i.ts": 'import { x } from "adbind-cli"; import { y } from "adbind/store";',
      "runtime/behaviours/j.ts": 'import { signed } from "../sender/deliver.js";',
    },
    says: [
      /net\/a\.ts:1 imports runtime\/store\/x/,
      /store\/b\.ts:1 .*seller/,
      /buyer\/c\.ts:1/,
      /seller\/d\.ts:1/,
      /emit\/e\.ts:1/,
      /newroom\/f\.ts:1 is in no room/,
      /facts\/g\.ts:1 imports generated\/3\.1\.0\/index/,
      /facts\/h\.ts:1 imports runtime\/store\/x/,
      /facts\/h\.ts:1 imports #elsewhere/,
      /db\/i\.ts:1 imports adbind-cli/,
      /db\/i\.ts:1 imports adbind\/store/,
      /behaviours\/j\.ts:1 imports runtime\/sender\/deliver/,
    ],
    keeps: {
      "runtime/store/a.ts": 'import { x } from "../json.js";',
      "runtime/buyer/b.ts": 'import type { X } from "../receiver/x.js";',
      "runtime/registry/c.ts": 'import type { X } from "../../generated/registry/openapi.js";',
      "generator/emit/d.ts": 'import { x } from "../model/x.js";',
      "generated/3.1.0/e.ts": 'import { dispatch } from "adbind/contract";',
      "cli/f.ts": 'import { x } from "../runtime/store/x.js";',
      "templates/project/g.ts": 'import { release } from "#bindings";',
      "runtime/behaviours/h.ts": 'import { createSender } from "../sender/create.js";',
      "runtime/behaviours/i.ts": 'import type { Sender } from "../sender/sender.js";',
    },
  },
  "imports point down a room's ranks": {
    breaks: {
      "runtime/seller/types.ts": 'import type { X } from "./server.js";',
      "runtime/seller/server.ts": "export interface X {}",
      "runtime/registry/model.ts": 'import { x } from "./crawl/types.js";',
      "runtime/registry/crawl/types.ts": "export const x = 1;",
      "runtime/seller/attic/a.ts": "",
      "generator/model/a.ts": 'import { y } from "../lint/y.js";',
      "generator/lint/y.ts": "export const y = 1;",
    },
    says: [
      /seller\/types\.ts:1 imports runtime\/seller\/server\.ts, which stands above/,
      /registry\/model\.ts:1 imports/,
      /runtime\/seller\/attic\/ has no rank/,
      /model\/a\.ts:1/,
    ],
    keeps: {
      "runtime/seller/server.ts": 'import type { X } from "./types.js"; import "./anything.js";',
      "runtime/seller/anything.ts": 'import type { X } from "./types.js"; import "./other.js";',
      "runtime/seller/other.ts": "",
      "runtime/seller/types.ts": "export interface X {}",
      "runtime/registry/crawl/types.ts": 'import { x } from "../types.js";',
      "runtime/registry/types.ts": "export const x = 1;",
    },
  },
  "no import circle between files": {
    breaks: {
      "runtime/seller/a.ts": 'import { b } from "./b.js";',
      "runtime/seller/b.ts": 'export const b = () => import("./c.js");',
      "runtime/seller/c.ts": 'import type { A } from "./a.js";',
      "test/one.ts": 'export * from "./one.js";',
    },
    says: [/seller\/a\.ts:1 .*seller\/b\.ts, runtime\/seller\/c\.ts/, /test\/one\.ts:1/],
    keeps: {
      "runtime/seller/a.ts": 'import { b } from "./b.js"; import { c } from "./c.js";',
      "runtime/seller/b.ts": 'import { c } from "./c.js";',
      "runtime/seller/c.ts": "export const c = 1;",
      "generated/types/a.ts": 'import type { B } from "./b.js";',
      "generated/types/b.ts": 'import type { A } from "./a.js";',
    },
  },
  "no two folders import each other": {
    breaks: {
      "runtime/seller/x/a.ts": 'import { b } from "../y/b.js";',
      "runtime/seller/y/b.ts": "export const b = 1;",
      "runtime/seller/y/c.ts": 'import type { D } from "../x/d.js";',
      "runtime/seller/x/d.ts": "export interface D {}",
      "bench/check.ts": 'import { a } from "./check/a.js";',
      "bench/check/a.ts": 'import { text } from "../text.js";',
      "bench/text.ts": "",
    },
    says: [/seller\/x\/a\.ts:1 imports .*y\/b\.ts, and runtime\/seller\/y\/c\.ts:1 imports back/, /bench\/check\.ts:1/],
    keeps: {
      "runtime/seller/x/a.ts": 'import { b } from "../y/b.js";',
      "runtime/seller/y/b.ts": "export const b = 1;",
      "cli/check/index.ts": 'export { a } from "./sub/a.js";',
      "cli/check/sub/a.ts": 'import { text } from "../text.js"; export const a = 1;',
      "cli/check/text.ts": "export const text = 1;",
      // A room with ranks: its loose files stand below and above its folders.
      "runtime/registry/types.ts": "export const x = 1;",
      "runtime/registry/crawl/a.ts": 'import { x } from "../types.js";',
      "runtime/registry/data.ts": 'import { x } from "./crawl/a.js";',
    },
  },
  "only load, render and disk of the generator touch the file system": {
    breaks: { "generator/model/a.ts": 'import { readFile } from "node:fs/promises";' },
    says: [/model\/a\.ts:1 touches/],
    keeps: { "generator/load/a.ts": 'import { readFile } from "node:fs";', "cli/a.ts": 'import "node:fs";' },
  },
  "only cli prints or exits": {
    breaks: { "runtime/url.ts": "\nconsole.log(1);", "generator/a.ts": "process.exit(1);" },
    says: [/url\.ts:2 prints/, /generator\/a\.ts:1/],
    keeps: { "cli/a.ts": "console.log(1); process.exit(1);", "runtime/url.ts": "process.exitCode = 1;" },
  },
  "exports are named": {
    breaks: { "cli/a.ts": "export default 1;" },
    says: [/cli\/a\.ts:1/],
    keeps: { "cli/a.ts": "export const one = 1;" },
  },
  "no protocol's name is in the code": {
    breaks: { "runtime/url.ts": `const word = "Ad${"cp"}";` },
    says: [/url\.ts:1/],
    keeps: { "runtime/url.ts": "const word = release.word;" },
  },
  "a file has at most 300 lines": {
    breaks: {
      "runtime/url.ts": lines(301),
      "templates/buyer/a.ts": lines(1_200),
      "test/a.test.ts": lines(301),
      "docs/examples/a.ts": lines(301),
    },
    says: [/url\.ts:301 has 301 lines/, /buyer\/a\.ts:301 has 1200 lines/, /a\.test\.ts/, /examples\/a\.ts/],
    keeps: { "runtime/url.ts": lines(300), "generated/a.ts": lines(2_000) },
  },
  "a function has at most 60 lines": {
    breaks: {
      "runtime/url.ts": `function a() ${fn(61)}\nconst b = () => ${fn(61)};\nclass C { d() ${fn(61)} }`,
      "test/a.test.ts": `test("it holds", () => ${fn(61)});`,
    },
    says: [/url\.ts:1 a has 61 lines/, /url\.ts:62 b has/, /url\.ts:123 C\/d has/, /a\.test\.ts:1 it holds has/],
    keeps: { "runtime/url.ts": `function a() ${fn(60)}\nconst b = () => ${fn(60)};` },
  },
  "an exported name means one thing": {
    breaks: {
      "runtime/url.ts": "export interface Outcome { a: 1 }",
      "runtime/json.ts": "const Outcome = 1;\nexport { Outcome };",
      "generator/a.ts": "export const { one, two: [three] } = all;",
      "cli/a.ts": "export function three() {}",
    },
    says: [/exports Outcome, and so does runtime\/json\.ts:2/, /exports three/],
    keeps: {
      "runtime/url.ts": "export interface Outcome { a: 1 }",
      "runtime/json.ts": 'export { Outcome } from "./url.js";',
      "runtime/errors.ts": 'import { Outcome } from "./url.js"; export type { Outcome };',
      "test/a.ts": "export interface Outcome { b: 1 }",
      "runtime/db/sqlite/open.ts": "export function open(): void; export function open() {}",
      "runtime/db/postgres/open.ts": "export const open = 1;",
    },
  },
  "a type guard is written once": {
    breaks: {
      "runtime/url.ts": 'export const isText = (value: unknown): value is string => typeof value === "string";',
      "runtime/seller/a.ts": 'const isName = (one: unknown): one is string => typeof one === "string";',
      "cli/b.ts": 'function isWord(text: unknown): text is string { return typeof text === "string"; }',
      "cli/c.ts": 'function isLine(line: unknown): line is string { return  typeof line === "string"; }',
    },
    says: [/url\.ts:1 asks in isText .*isName in runtime\/seller\/a\.ts:1/, /b\.ts:1 asks in isWord .*isLine/],
    keeps: {
      "runtime/url.ts": 'export const isText = (value: unknown): value is string => typeof value === "string";',
      "runtime/seller/a.ts": 'const isCount = (value: unknown): value is number => typeof value === "number";',
      "runtime/seller/b.ts": 'const texts = all.filter((value): value is string => typeof value === "string");',
      "test/a.ts": 'const isText = (value: unknown): value is string => typeof value === "string";',
    },
  },
  "a database engine is named in its own folder only": {
    breaks: {
      "runtime/store/a.ts": 'const now = store.kind === "sqlite" ? 1 : 2;',
      "runtime/seller/b.ts": 'import pg from "pg";',
      "cli/c.ts": "\nopenPostgresQueue();",
      "runtime/buyer/d.ts": 'import { x } from "../db/sqlite/x.js";',
      "runtime/seller/e.ts": 'const shared = url.startsWith("postgres://");',
      "runtime/seller/f.ts": "const embedded = /^sqlite:/.test(url);",
      "runtime/seller/g.ts": "const url = `sqlite:$\u007bpath}`;",
      "runtime/store/h.ts": 'yield* q.rows("select id from jobs for update skip locked");',
      "runtime/store/i.ts": "yield* q.rows(`select pg_advisory_xact_lock(?) $\u007bname}`);",
      "runtime/store/j.ts": 'const held = "select count(*) from pg_locks";\nconst all = "insert or ignore into jobs";',
      "runtime/db/engines.ts": 'const row = "unnest(?::text[])";',
      "runtime/queue/open.ts": 'import { x } from "./nats/open.js";',
      "templates/buyer/k.ts": "openSqliteStore();",
    },
    says: [
      /store\/a\.ts:1 names an engine in lines 1/,
      /seller\/b\.ts:1/,
      /cli\/c\.ts:2/,
      /buyer\/d\.ts:1/,
      ...[
        /seller\/e\.ts:1/,
        /seller\/f\.ts:1/,
        /seller\/g\.ts:1/,
        /store\/h\.ts:1/,
        /store\/i\.ts:1/,
        /store\/j\.ts:1 names an engine in lines 1, 2/,
        /db\/engines\.ts:1/,
        /queue\/open\.ts:1/,
        /buyer\/k\.ts:1/,
      ],
    ],
    keeps: {
      "runtime/db/sqlite/a.ts": 'import Database from "better-sqlite3"; const sqlite = 1;',
      "runtime/queue/postgres.ts": 'import pg from "pg";',
      "runtime/store/index.ts": 'export { openSqlite } from "./sqlite/open.js";',
      "runtime/store/a.ts": "const now = db.dialect.now; // not the way of sqlite",
      "runtime/store/b.ts":
        'q.rows("insert into a (b) values (?) on conflict do nothing returning b"); q.notify("for updates");',
      "runtime/seller/c.ts":
        'throw new Error("give a store on PostgreSQL"); const url = "http://[::1]:80"; const at = "a::b";',
      "test/a.ts": 'for (const engine of ["sqlite", "postgres"]) run(engine);',
    },
  },
  "nothing is cast to never": {
    breaks: {
      "runtime/seller/a.ts": "const x = 1;\nuse(x as never);",
      "runtime/net/b.ts": "use({} as never, [] as never);",
    },
    says: [/seller\/a\.ts:2 casts to never/, /net\/b\.ts:1 casts to never/],
    keeps: {
      "runtime/seller/a.ts": "let x: never; const y = x as unknown; // as never",
      "test/a.ts": "use(1 as never);",
    },
  },
  "no string of SQL has a backslash": {
    breaks: {
      "runtime/store/a.ts": "const like = \"name like ? escape '\\\\'\";",
      "runtime/queue/postgres/b.ts": "const x = 1;\nconst text = `select name like 'a\\\\_'`;",
    },
    says: [/store\/a\.ts:1 a backslash/, /queue\/postgres\/b\.ts:2 a backslash/],
    keeps: {
      "runtime/store/a.ts":
        "const like = \"name like ? escape '!'\"; const newLine = `'a\\n'`; const other = \"\\\\\";",
      "runtime/sender/b.ts": "const said = \"it's 'a\\\\b'\";",
    },
  },
  "a test's name states a fact": {
    breaks: {
      "test/a.test.ts":
        'test("a disk fills", () => 1);\ntest("media types: with parameters, and nothing else", () => 1);',
      "test/b.case.ts": 'function full() {}\nconst cases = [["limits of time and size", full]];',
      "test/c.test.ts": "for (const name of names) test(`$\u007bname}: only the word`, () => 1);",
      "templates/buyer/test/d.test.ts": 'test("a buyer", () => 1);',
    },
    says: [
      /buyer\/test\/d\.test\.ts:1/,
      /a\.test\.ts:1 .*fewer than 4 words/,
      /a\.test\.ts:2 .*says of nothing/,
      /b\.case\.ts:2/,
      /c\.test\.ts:1/,
    ],
    keeps: {
      "test/a.test.ts":
        'test("a full disk keeps nobody waiting", () => 1); test(name, () => 1); const pair = ["a pool", pool];',
      "test/b.case.ts": "for (const one of all) test(`$\u007bone.engine}: $\u007bone.name}`, () => 1);",
      "test/c.test.ts": "test(`$\u007bengine}: a full disk is an answer`, () => 1);",
    },
  },
  "the statuses of a task are listed once": {
    breaks: {
      "runtime/seller/a.ts": 'const interim = ["submitted", "working", "completed", "other"];',
      "runtime/seller/b.ts": 'type End = "completed" | "failed" | "working";',
      "cli/c.ts": "const marks = { completed: 1, failed: 2, submitted: 3 };",
      "templates/project/d.ts": "interface Counts { completed: 1; failed: 2; submitted: 3 }",
    },
    says: [/seller\/a\.ts:1 lists task statuses \(submitted, working, completed\)/, /b\.ts:1/, /c\.ts:1/, /d\.ts:1/],
    keeps: {
      "runtime/seller/a.ts": 'const both = ["submitted", "working"]; const ends = taskStatuses.filter(isTerminal);',
      "test/b.ts": 'const interim = ["submitted", "working", "completed"];',
    },
  },
};
