/** Failures as users and programs are told of them, and what a terminal shows of a run. */
import { spawnSync } from "node:child_process";
import { chmodSync, existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { commandFailureOf, Interrupted, wordsOf } from "../../cli/failure.js";
import { AdbindError } from "../../runtime/errors.js";
import { printable } from "../../runtime/printable.js";
import { fromSource } from "../runner/from-source.js";
import { cut } from "../support/mutate-release.js";
import { smallRelease, tempFolder, writeRelease } from "../support/release.js";

const root = path.resolve(import.meta.dirname, "../..");
const source = writeRelease(smallRelease());
const node = fromSource;
const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

/** The command in a shell: `$ADBIND generate ...`. */
function shell(script: string, env: Record<string, string> = {}) {
  const command = [process.execPath, ...node, path.join(root, "cli/main.ts")].map(quoted).join(" ");
  const { status, stdout, stderr } = spawnSync("bash", ["-c", script.replaceAll("$ADBIND", command)], {
    cwd: root,
    encoding: "utf8",
    env: { ...process.env, ...env },
  });
  return { code: status, out: stdout, err: stderr };
}

/** Runs a command with --json; what it said on stderr has to be one line, and on stdout an object. */
function failed(args: string) {
  const { code, out, err } = shell(`$ADBIND ${args} --json`);
  assert.match(err, /^adbind: [^\n]+\n$/, args);
  const { ok, error } = JSON.parse(out);
  assert.is(ok, false);
  return { exit: code, ...error };
}

test("whatever fails is a line on stderr, and an object on stdout for who asked for JSON", () => {
  const folder = tempFolder();
  const file = path.join(folder, "file");
  writeFileSync(file, "");
  const cases: readonly [args: string, code: string, where: string, exit: number][] = [
    [`generate ${source} --out ${file}`, "output_unusable", file, 1],
    [`generate ${source} --out ${file}/below`, "output_unusable", `${file}/below`, 1],
    [`generate ${source} --out /proc/nothing`, "output_unusable", "/proc/nothing", 1],
    // There is such a folder, and nothing can be made in it.
    [`generate ${source} --out /proc`, "output_unusable", "/proc", 1],
    [`generate ${folder}/none --out ${folder}/out`, "release_unreadable", `${folder}/none`, 1],
    [`lint ${folder}`, "release_unreadable", folder, 1],
    [`new seller ${file} --specialism sales_guaranteed --release proto@3.1.0`, "output_unusable", file, 1],
    [`inbox list --store sqlite:${folder}/none.db`, "store_missing", `${folder}/none.db`, 1],
    [`outbox list --store postgres://a:b@127.0.0.1:1/x`, "database_unreachable", "127.0.0.1:1/x", 1],
  ];
  for (const [args, code, where, exit] of cases) {
    const error = failed(args);
    assert.equal([args, error.code, error.where, error.exit], [args, code, where, exit]);
    assert.ok(error.message.includes(error.remedy), args);
  }
});

test("a folder where a file is wanted is named", () => {
  const folder = tempFolder();
  for (const args of [
    `call http://127.0.0.1:1/mcp get_products --output json --json ${folder}`,
    `tools acme --agents ${folder}`,
    `generate --config ${folder}`,
    `diff proto@3.0.0 proto@3.1.0 --traffic ${folder}`,
  ]) {
    const { code, err } = shell(`$ADBIND ${args}`);
    assert.equal(
      [args, code, err.includes(`it is a folder, and a file is wanted (${folder}): `)],
      [args, 1, true],
      err,
    );
  }
});

test("of what others wrote a terminal is shown letters of every script, and nothing that steers it", () => {
  const names = ["Müller & Söhne", "東京の広告", "إعلان", "می‌خواهم", "🎯 49 €"];
  for (const name of names) assert.is(printable(name), name);
  assert.is(printable("a\u001b[31mb\u009bc\nd\u202ee\u2028f\u0007\u00ad"), "a?[31mb?c?d?e?f??");
});

test("what a release says is shown in its findings without what steers a terminal, each on a line", () => {
  for (const [body, said] of [
    ['{"a": \u001b[31m\u202e', "?[31m?"],
    ['{\n\t"a": x\n}', '"{ "a": x }"'],
  ] as const) {
    const folder = tempFolder();
    writeFileSync(path.join(folder, "manifest.json"), body);
    const { err } = shell(`$ADBIND lint ${folder}`);
    assert.ok(err.includes(said), err);
    for (const sign of ["\u001b", "\u202e", "\t"]) assert.not(err.includes(sign), err);
    assert.is(
      err
        .trim()
        .split("\n")
        .filter((line) => line.startsWith("error")).length,
      1,
    );
  }
});

test("of what others wrote nothing is shown that cannot be seen, but where a script needs it", () => {
  const hides = [
    "\u3164",
    "\uffa0",
    "\u115f",
    "\u1160",
    "\u034f",
    "\u17b4",
    "\u180e",
    "\u2800",
    "\u{1d159}",
    "\ufe0f",
    "\u{e0101}",
    "\u200d",
    "\u2060",
  ];
  for (const sign of hides)
    assert.is(printable(`agent${sign}.example`), "agent?.example", sign.codePointAt(0)?.toString(16));
  assert.is(printable("नि\u200d\u200d"), "नि\u200d?", "one joiner joins; a second one is hidden text");
  assert.is(printable("❤️\ufe0f\ufe0f"), "❤️??", "a second selector is hidden text");
  for (const name of ["👨‍👩‍👧", "❤️", "🏳️‍🌈", "1️⃣", "👩🏽‍💻", "क्‍ष", "葛\u{e0100}城", "ᠮᠣᠩᠭᠣᠯ\u180b"])
    assert.is(printable(name), name);
});

test("a wrong command line is an object too, and exit 2", () => {
  for (const [args, said] of [
    ["lint --json", "missing required argument"],
    ["generate x --nosuch --json", "unknown option"],
    ["nosuch --json", "unknown"],
    ["outbox list --store x --limit some --json", "is no count"],
  ] as const) {
    const { code, out } = shell(`$ADBIND ${args}`);
    assert.equal([args, code, JSON.parse(out).error.code], [args, 2, "usage"]);
    assert.match(JSON.parse(out).error.message, said);
  }
});

test("a limit of the size of files is told of, and what stood there stays", () => {
  const out = path.join(tempFolder(), "out");
  assert.is(shell(`$ADBIND generate ${source} --out ${out}`).code, 0);
  const before = readFileSync(path.join(out, "1.2.3/owned.json"), "utf8");
  const { code, err } = shell(`ulimit -f 1; $ADBIND generate ${source} --out ${out} --force`);
  assert.is(code, 1);
  assert.match(err, /^adbind: a file would be larger than .* allows \(.*\): .*EFBIG/m);
  assert.is(readFileSync(path.join(out, "1.2.3/owned.json"), "utf8"), before);
  assert.equal(readdirSync(out), ["1.2.3"]);
});

test("a folder one may not write to is told of", () => {
  const out = tempFolder();
  chmodSync(out, 0o555);
  // Root may write anywhere, so that root becomes somebody else.
  const nobody = process.getuid?.() === 0 ? { uid: 65534, gid: 65534 } : {};
  const input = writeRelease(smallRelease());
  for (const folder of [path.dirname(input), input, path.dirname(out)])
    if (folder.includes("adbind")) chmodSync(folder, 0o755);
  const { status, stderr } = spawnSync(
    process.execPath,
    [...node, "cli/main.ts", "generate", input, "--out", `${out}/inner`],
    { cwd: root, encoding: "utf8", ...nobody },
  );
  assert.is(status, 1, stderr);
  assert.match(stderr, /^adbind: permission to the output folder is denied \(.*inner\): .*EACCES.*\n$/);
  assert.is(existsSync(`${out}/inner`), false);
});

test("a reader that has seen enough is no failure; a full disk is one", () => {
  // More than a pipe holds, so that writing meets the closed end.
  const piped = shell(`set -o pipefail; $ADBIND lint ${source} --json | true; echo "codes \${PIPESTATUS[*]}"`);
  assert.match(piped.out, /codes 0 0/);
  assert.is(piped.err, "");
  const full = shell(`$ADBIND lint ${source} --json > /dev/full`);
  assert.is(full.code, 1);
  assert.match(full.err, /^adbind: the disk is full: make room/);
  assert.not.match(full.err, /^\s+at /m);
});

test("what nobody thought of has no stack, unless it is asked for", () => {
  const preload = path.join(tempFolder(), "preload.mjs");
  writeFileSync(preload, 'String.prototype.padEnd = () => { throw new TypeError("two\\nlines"); };\n');
  const script = `NODE_OPTIONS="--import ${preload}" $ADBIND lint ${source}`;
  const plain = shell(`${script} --json`);
  assert.is(plain.code, 1);
  assert.match(plain.err, /^adbind: unexpected: two; lines: run it again with ADBIND_DEBUG=1/);
  assert.not.match(plain.err, /^\s+at .*lint/m);
  assert.match(shell(`${script} --json`, { ADBIND_DEBUG: "1" }).err, /^\s+at .*lint/m);
});

test("errors of the system, of databases and of several addresses are put in words", () => {
  const system = Object.assign(new Error("EACCES: permission denied, open 'x'"), {
    code: "EACCES",
    syscall: "open",
    path: "x",
  });
  assert.equal(
    commandFailureOf(system).message,
    "permission is denied (x): check its owner and mode, and those of its folder",
  );
  const refused = Object.assign(new Error("connect ECONNREFUSED ::1:1"), { code: "ECONNREFUSED", syscall: "connect" });
  const both = new AggregateError([refused, refused], "");
  assert.is(wordsOf(both), "connect ECONNREFUSED ::1:1; connect ECONNREFUSED ::1:1");
  assert.match(commandFailureOf(both).message, "nothing answers there");
  const behind = new AdbindError("store_option_invalid", "the database cannot be opened", { cause: both });
  assert.match(commandFailureOf(behind).cause ?? "", "ECONNREFUSED");
  const busy = Object.assign(new Error("database is locked"), { code: "SQLITE_BUSY" });
  assert.match(commandFailureOf(busy).message, "another process holds the database");
  assert.is(commandFailureOf(new Interrupted("SIGINT")).code, "interrupted");
  assert.match(commandFailureOf("text").message, "unexpected: text");
});

/** The command on a terminal of its own, by util-linux's `script`. */
function onTerminal(args: string, env: Record<string, string> = {}) {
  const command = [process.execPath, ...node, path.join(root, "cli/main.ts")].map(quoted).join(" ");
  const ran = spawnSync("script", ["-qec", `${command} ${args}`, "/dev/null"], {
    cwd: root,
    encoding: "utf8",
    input: "",
    env: { ...process.env, CI: "", ...env },
  });
  return { code: ran.status, out: ran.stdout };
}

test("on a terminal a run shows what it does, and then its lines alone", () => {
  const { code, out } = onTerminal(`generate ${source} --out ${tempFolder()}`);
  assert.is(code, 0, out);
  for (const what of ["checking", "making bindings of", "writing"]) assert.match(out, what);
  assert.match(out, /proto 1\.2\.3 +written/);
  // The cursor, hidden while the bar moves, is shown again.
  assert.ok(out.lastIndexOf("\u001b[?25h") > out.lastIndexOf("\u001b[?25l"));
});

test("nothing moves before a build server, a pipe or a program that asked for JSON", () => {
  const json = onTerminal(`generate ${source} --out ${tempFolder()} --json`);
  assert.is(JSON.parse(json.out).ok, true);
  for (const { out } of [onTerminal(`generate ${source} --out ${tempFolder()}`, { CI: "true" })]) {
    assert.match(out, /^proto 1\.2\.3 +written/);
    assert.not.match(out, "\u001b[");
  }
  assert.not.match(shell(`$ADBIND generate ${source} --out ${tempFolder()}`).err, "\u001b[");
});

for (const [place, name] of [
  ["", "adbind"],
  ["cli", "adbind-cli"],
] as const)
  test(`the entry of ${name} names the Node it needs before anything else is read`, () => {
    const { engines, bin } = JSON.parse(readFileSync(path.join(root, place, "package.json"), "utf8"));
    const [, major, minor] = /^>=(\d+)\.(\d+)$/.exec(engines.node)!;
    const [, source] = /^dist\/(cli\/\w+)\.js$/.exec(bin[name])!;
    const text = readFileSync(path.join(root, `${source}.ts`), "utf8");
    assert.match(text, `[${major}, ${minor}]`);
    assert.match(readFileSync(path.join(root, "run"), "utf8"), `need_major=${major} need_minor=${minor}`);
    assert.not.match(text, /^import |^export |^await /m);
  });

test("a seller's bindings that were edited are kept, and written over by force", () => {
  const whole = path.join(root, "manifests/3.1.0");
  const { specialisms } = JSON.parse(readFileSync(path.join(whole, "manifest.json"), "utf8"));
  // Bindings of every tool take two thirds of the time.
  const release = writeRelease(cut(whole, specialisms.signal_owned.exercised_tools));
  const folder = path.join(tempFolder(), "seller");
  assert.is(shell(`$ADBIND new seller ${folder} --specialism signal_owned --release ${release}`).code, 0);
  const file = path.join(folder, "bindings/3.1.0/errors.ts");
  writeFileSync(file, "// mine\n");
  const error = failed(`new seller ${folder} --release ${release}`);
  assert.is(error.code, "output_edited");
  assert.is(readFileSync(file, "utf8"), "// mine\n");
  assert.is(shell(`$ADBIND new seller ${folder} --force --release ${release}`).code, 0);
  assert.match(readFileSync(file, "utf8"), "@generated");
});

test.run();
