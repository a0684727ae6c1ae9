/** What several callers of one seller are told, in webhooks, reports and notifications: each as if it were alone. */
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import path from "node:path";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { publishedRelease, versions } from "../behaviours/behaving-seller.js";
import { corpus } from "../support/corpus.js";
import type { JsonRecord } from "../support/known.js";
import { tempFolder } from "../support/release.js";
import { HOOK, historyTools, makeHistory } from "./seller-history.js";
import { World } from "./seller-worlds.js";

const COUNT = 150;
const SEED = 20_261_128;
const callers = ["one", "two"];
const folder = tempFolder();
let files = 0;

/** Bodies by the side whose place they were sent to, without what is made anew each time. */
let heard: { readonly side: string; readonly body: JsonRecord }[] = [];
const inbox = createServer(async (request, response) => {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const body = JSON.parse(Buffer.concat(chunks).toString()) as JsonRecord;
  if (typeof body.challenge === "string") return void response.end(JSON.stringify({ challenge: body.challenge }));
  heard.push({ side: request.url!.split("/")[1]!, body });
  response.end();
}).listen(0, "127.0.0.1");
await once(inbox, "listening");
const { port } = inbox.address() as AddressInfo;

const made = new Set([
  "idempotency_key",
  "timestamp",
  "notification_id",
  "fired_at",
  "event_id",
  "configuration_version",
]);
const shown = (side: string): string[] =>
  heard
    .filter((one) => one.side === side)
    .map(({ body }) =>
      JSON.stringify(body, (name, value) => (made.has(name) ? undefined : value)).replaceAll(
        /impairment\.[0-9a-f-]+/g,
        "",
      ),
    )
    .sort();

for (const version of versions)
  test(`${version}: a caller is told what it would be told if it were alone`, async () => {
    const release = await publishedRelease(version);
    const types = JSON.parse(
      readFileSync(path.join(corpus, "releases", version, "enums/notification-type.json"), "utf8"),
    ) as { readonly enum: readonly string[] };
    const open = () => World.open(release, path.join(folder, `${++files}.db`));
    const deliver = async (world: World): Promise<void> => {
      await world.deliver(COUNT, () => heard.length);
      await world.close();
    };
    heard = [];
    const world = await open();
    const plan = {
      ...{ count: COUNT, seed: SEED, callers, versions: [`${release.word}_version`, `${release.word}_major_version`] },
      hearing: { url: (side: string) => `http://127.0.0.1:${port}/${side}${HOOK}`, types: types.enum },
    };
    const steps = await makeHistory(world, await historyTools(path.join(corpus, "releases", version), world), plan);
    await deliver(world);
    const among = callers.map(shown);
    assert.ok(among.flat().length > 1, `${among.flat().length} were told`);
    for (const [at, side] of callers.entries()) {
      heard = [];
      const alone = await open();
      for (const one of steps) if (one.side === side) await alone.call(one.call);
      await deliver(alone);
      assert.equal(shown(side), among[at]);
    }
  });

test.after(() => {
  inbox.closeAllConnections();
  inbox.close();
});
test.run();
