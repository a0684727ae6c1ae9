/** A PostgreSQL whose language makes another small letter of I than everybody else's. */
import { test } from "uvu";
import * as assert from "uvu/assert";
import { openPostgres } from "../../runtime/db/index.js";
import { propertiesMatching } from "../../runtime/store/registry-lookups.js";
import { runStatements, sharedPostgres } from "../support/postgres.js";

const postgres = await sharedPostgres();
test.after(() => postgres.stop());

test("a property is found without case where the database's language is Turkish", async () => {
  const near = await postgres.empty();
  const name = `turkish_${process.pid}`;
  await runStatements(
    near,
    `create database ${name} template template0 encoding 'UTF8' locale 'C' locale_provider icu icu_locale 'tr-TR'`,
  );
  try {
    const url = Object.assign(new URL(near), { pathname: `/${name}` }).href;
    const database = await openPostgres({ url, connections: 1 });
    const insert =
      "insert into adbind_registry_properties (publisher, source, key, position, name, type, identifiers, tags) values (1, 'file', 'MAIN_SITE', 0, 'INFO Ä', 'website', '[]', '[]')";
    await database.execute(insert);
    const found = (text: string): Promise<number> =>
      database
        .query((q) =>
          propertiesMatching(q, {
            ...{ publisher: 1, sources: ["file" as never], text, type: "" },
            ...{ after: { source: "", key: "" }, limit: 5 },
          }),
        )
        .then((rows) => rows.length);
    for (const text of ["info", "INFO", "Info ä", "main_site"]) assert.is(await found(text), 1, text);
    assert.is(await found("other"), 0);
    await database.close();
  } finally {
    await runStatements(near, `drop database ${name} with (force)`);
  }
});

test.run();
