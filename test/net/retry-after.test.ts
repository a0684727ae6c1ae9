/** When a server wants to be asked again, in whatever form it says it. */
import { test } from "uvu";
import * as assert from "uvu/assert";
import { retryAfterMs } from "../../runtime/net/index.js";

/** A Tuesday. */
const NOW = Date.UTC(2026, 10, 17, 8, 49, 37);
const HOUR_MS = 3_600_000;

test("a date means the same in each of its forms, wherever the process runs", () => {
  const zone = process.env.TZ;
  try {
    for (process.env.TZ of ["UTC", "Asia/Tokyo", "America/New_York"])
      for (const date of [
        "Tue, 17 Nov 2026 08:50:37 GMT",
        "Tuesday, 17-Nov-26 08:50:37 GMT",
        "Tue Nov 17 08:50:37 2026",
        "2026-11-17T08:50:37Z",
        "Tue, 17 Nov 2026 09:50:37 +0100",
      ])
        assert.is(retryAfterMs(date, NOW), 60_000, `${date} in ${process.env.TZ}`);
  } finally {
    if (zone === undefined) delete process.env.TZ;
    else process.env.TZ = zone;
  }
});

test("of several the longest counts, at most an hour", () => {
  for (const [value, ms] of [
    ["5, 120", 120_000],
    ["120,5", 120_000],
    ["soon, 5, 0", 5_000],
    ["Tue, 17 Nov 2026 08:50:37 GMT, 5", 60_000],
    ["5, Tuesday, 17-Nov-26 08:50:37 GMT", 60_000],
    ["Tue, 17 Nov 2026 08:50:37 GMT, Wed, 18 Nov 2026 08:50:37 GMT", HOUR_MS],
  ] as const)
    assert.is(retryAfterMs(value, NOW), ms, value);
});

test("what is neither seconds nor a date says nothing", () => {
  for (const value of [
    "in 2050",
    "error 3000",
    "-5",
    "+5",
    "1.5",
    "60s",
    "0",
    ",",
    " ",
    "Tue Nov 17 08:48:37 2026",
    "99:99:99",
  ])
    assert.is(retryAfterMs(value, NOW), undefined, value);
});

test.run();
