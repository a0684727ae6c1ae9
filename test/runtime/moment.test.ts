/** Dates of files that no schema has judged: one moment each, wherever they are read. */
import { execFileSync } from "node:child_process";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { momentMs } from "../../runtime/moment.js";

const read = [
  ["2026-03-08", "2026-03-08T00:00:00.000Z"],
  ["2026-03-08T02:30:00", "2026-03-08T02:30:00.000Z"],
  ["2026-03-08T02:30:00.1239", "2026-03-08T02:30:00.123Z"],
  ["2026-03-08t02:30:00z", "2026-03-08T02:30:00.000Z"],
  ["2026-03-08T02:30Z", "2026-03-08T02:30:00.000Z"],
  ["2026-03-08T02:30:00+05:45", "2026-03-07T20:45:00.000Z"],
  ["2026-03-08T02:30:00-0500", "2026-03-08T07:30:00.000Z"],
  ["2026-03-08T02:30:00+05", "2026-03-07T21:30:00.000Z"],
  ["2016-12-31T23:59:60Z", "2016-12-31T23:59:59.999Z"],
  ["0030-01-01 10:00:00Z", "0030-01-01T10:00:00.000Z"],
  ["9999-12-31T23:59:59Z", "9999-12-31T23:59:59.000Z"],
] as const;

test("a date-time means one moment, whatever its form", () => {
  for (const [text, moment] of read) assert.is(new Date(momentMs(text)).toISOString(), moment, text);
});

test("what is no date-time is no moment, though Date would make one of it", () => {
  const texts = ["", "soon", "revoked 2099", "2026-02-30", "2026-13-01", "12/31/2099", "+010000-01-01T00:00:00Z"];
  for (const text of [...texts, "2026-03-08T24:00:00Z", "2026-03-08T02:30:00+24:00", "2026-03-08T02:30:00 Z"])
    assert.ok(Number.isNaN(momentMs(text)), text);
});

test("the moment is the same in every time zone of the process", () => {
  const program = `import { momentMs } from "./runtime/moment.ts";
    console.log(JSON.stringify(${JSON.stringify(read.map(([text]) => text))}.map((one) => momentMs(one))));`;
  const args = ["--import", "./test/runner/sources.mjs", "--input-type=module-typescript", "-e", program];
  const own = JSON.stringify(read.map(([text]) => momentMs(text)));
  for (const TZ of ["America/New_York", "Europe/London", "Asia/Kathmandu", "Pacific/Apia"])
    assert.is(execFileSync(process.execPath, args, { env: { ...process.env, TZ }, encoding: "utf8" }).trim(), own, TZ);
});

test.run();
