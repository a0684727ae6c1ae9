import { spawnSync } from "node:child_process";
import path from "node:path";
import { test } from "uvu";
import * as assert from "uvu/assert";

const root = path.resolve(import.meta.dirname, "../..");

const run = (...args: string[]): { code: number | null; out: string; err: string } => {
  const { status, stdout, stderr } = spawnSync(path.join(root, "run"), args, { cwd: root, encoding: "utf8" });
  return { code: status, out: stdout, err: stderr };
};

test("what a command of ./run does not know, it names, and says what it takes", () => {
  const cases: readonly [args: string[], said: RegExp][] = [
    [["faults", "nothing"], /\.\/run faults takes one of: buyer outbox receiver registry retention seller sender$/m],
    [["fuzz"], /\.\/run fuzz takes one of: receiver seller$/m],
    [["faults", "seller", "--engine", "oracle"], /Allowed choices are sqlite, postgres\./],
    [["faults", "sender", "--kills", "1.5"], /It takes a whole number above 0\./],
    [["soak", "--minutes", "soon"], /It takes a number above 0\./],
    [["demo", "--engine"], /unknown option '--engine'/],
    [["matrix", "--release", "nowhere"], /^matrix: no such file or folder \(\S+nowhere\): name a release/m],
    [["interop", "nobody"], /^no peer nobody; there are /m],
  ];
  for (const [args, said] of cases) {
    const { code, err } = run(...args);
    assert.is(code, 2, args.join(" "));
    assert.match(err, said);
    assert.not.match(err, /^\s+at /m, "a stack says nothing to a user");
  }
  const help = run("fuzz", "receiver", "--help");
  assert.is(help.code, 0);
  assert.match(help.out, /--count <n> +requests/);
});

test.run();
