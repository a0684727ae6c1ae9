/** Packages that an application installs: what is said where one is missing. */
import { writeFileSync } from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { driver } from "../../runtime/db/driver.js";
import { AdbindError } from "../../runtime/errors.js";
import { loadPeer } from "../../runtime/peer.js";
import { tempFolder } from "../support/release.js";

const told = (error: unknown): AdbindError => {
  assert.instance(error, AdbindError);
  return error as AdbindError;
};

/** A module in a folder of its own that imports a package. */
function importing(name: string): string {
  const file = path.join(tempFolder(), "part.mjs");
  writeFileSync(file, `import "${name}";`);
  return pathToFileURL(file).href;
}

test("a module whose package is missing: who needs it, which, and the line that installs all of them", async () => {
  const wanted = ["no-such-package", "@no/other"];
  const part = importing("@no/other/deep.js");
  const error = told(await loadPeer(wanted, "a thing", () => import(part)).catch((caught) => caught));
  assert.is(error.code, "package_missing");
  assert.is(
    error.message,
    "a thing needs a package that is not installed (no-such-package, @no/other): npm install no-such-package @no/other",
  );
});

test("a driver that is missing says so each time it is asked for, and no error is one of its own", () => {
  const none = driver("no-such-driver", "a database of none");
  for (const _ of [1, 2]) {
    let caught: unknown;
    try {
      none.load();
    } catch (error) {
      caught = error;
    }
    assert.match(told(caught).message, /^a database of none .* \(no-such-driver\): npm install no-such-driver$/);
  }
  assert.is(none.loaded, undefined);
});

test("a package that Yarn's Plug'n'Play finds nowhere is missing as any is", async () => {
  const part = path.join(tempFolder(), "part.mjs");
  const says =
    "adbind tried to access @no/other (a peer dependency) but it isn't provided by your application; this is unsound.";
  writeFileSync(part, `throw Object.assign(new Error(${JSON.stringify(says)}), { code: "MODULE_NOT_FOUND" });`);
  const missing = (name: string) =>
    loadPeer([name], "a thing", () => import(pathToFileURL(part).href)).catch((one) => one);
  assert.is(told(await missing("@no/other")).code, "package_missing");
  assert.not((await missing("@no/oth")) instanceof AdbindError);
});

test("what is missing inside a package that is there is that package's fault, and told as it is", async () => {
  const part = importing("something-else");
  const error = await loadPeer(["there"], "a thing", () => import(part)).catch((caught) => caught);
  assert.not(error instanceof AdbindError);
  assert.match(String(error), "something-else");
});

test("a package whose name begins as the missing one's is another", async () => {
  const part = importing("there-too");
  const error = await loadPeer(["there"], "a thing", () => import(part)).catch((caught) => caught);
  assert.not(error instanceof AdbindError);
});

test.run();
