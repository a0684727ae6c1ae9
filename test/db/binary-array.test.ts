/** Arrays in binary form, as PostgreSQL reads them back. */
import fc from "fast-check";
import pg from "pg";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { binaryArray } from "../../runtime/db/postgres/binary-array.js";
import type { ColumnType } from "../../runtime/db/types.js";
import { startPostgres, type TestPostgres } from "../support/postgres.js";

type Element = string | number | null;

const test = suite<{ postgres: TestPostgres; client: pg.Client }>("binary arrays");

test.before(async (context) => {
  context.postgres = await startPostgres({ fsync: "off" });
  context.client = new pg.Client(await context.postgres.database());
  await context.client.connect();
});

test.after(async ({ postgres, client }) => {
  await client.end();
  await postgres.stop();
});

async function readBack(client: pg.Client, type: ColumnType, values: readonly Element[]): Promise<Element[]> {
  const { rows } = await client.query<{ value: Element }>(`select value from unnest($1::${type}[]) as given (value)`, [
    binaryArray(type, values),
  ]);
  return rows.map(({ value }) => (type === "bigint" && value !== null ? Number(value) : value));
}

// PostgreSQL's text knows no character of code 0.
const text = fc
  .oneof(fc.string({ unit: "binary" }), fc.string({ unit: "grapheme" }), fc.string({ unit: "binary-ascii" }))
  .map((value) => value.replaceAll("\0", ""));
const listOf = (value: fc.Arbitrary<Element>): fc.Arbitrary<Element[]> =>
  fc.array(fc.option(value, { freq: 5 }), { minLength: 1, maxLength: 50 });

test("what goes in comes out", async ({ client }) => {
  const back = (type: ColumnType, of: fc.Arbitrary<Element>) =>
    fc.assert(
      fc.asyncProperty(listOf(of), async (values) => {
        assert.equal(await readBack(client, type, values), values);
      }),
      { numRuns: 200 },
    );
  await back("text", text);
  await back("bigint", fc.maxSafeInteger());
  await back(
    "double precision",
    fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => value + 0),
  );
});

test("text of many bytes finds its room wherever it stands", async ({ client }) => {
  for (const values of [["€".repeat(5_000)], ["a", "€".repeat(5_000), "b"], ["\u{1F600}".repeat(300), "", null, "é"]])
    assert.equal(await readBack(client, "text", values), values);
});

test.run();
