/** Secrets of registrations that their owner moves while events wait at the place before; on every store. */
import * as assert from "uvu/assert";
import { until } from "../support/until.js";
import { countSecrets, hmac, secretOf } from "./registered-secrets.js";
import { type Context, drained, HOOK, noneOut, type SenderCase, start, suiteOf } from "./sender-suite.js";

const NEW = "https://new.example/h";
const buy = { mediaBuyId: "mb", principal: "buyer-1" };
const fraud = { notificationId: "n", eventType: "fraud", impairment: {} };

/** The place before answers nothing good; one event was attempted there. */
async function waitingAtOld({ sender, network }: Context, tell: () => unknown): Promise<void> {
  network.react = ({ url }) => (url.startsWith(HOOK) ? 503 : 200);
  sender.start();
  await tell();
  await until(async () => (await sender.outbox.list())[0]?.attempts === 1);
  await noneOut(sender);
}

/** Everything was looked at: nothing is due to be looked at any more. */
const looked = (of: SenderCase, { clock }: Context) =>
  until(async () => {
    const text = `select 1 as due from adbind_sender_secrets where check_at <= ${clock.at}`;
    return (await of.rows(text)).length === 0;
  });

/** What waits comes due, goes where its owner is, and leaves no secret behind. */
async function delivered(of: SenderCase, context: Context, to: string): Promise<void> {
  const { sender, network, clock } = context;
  await looked(of, context);
  assert.is(await countSecrets(of), 1);
  const before = network.sent.length;
  clock.at += 60_000;
  await until(() => drained(sender));
  assert.equal(await sender.outbox.list(), []);
  assert.equal(
    network.sent.slice(before).map(({ url }) => url),
    [to],
  );
  await until(async () => (await countSecrets(of)) === 0);
}

export function movedSecretCase(of: SenderCase): void {
  const test = suiteOf(of, "secrets that moved");
  const places = {
    credentials: { url: NEW, authentication: hmac("new") },
    "a token": { url: NEW, token: secretOf("new") },
    "a URL": { url: `${NEW}?key=${secretOf("new")}` },
  };
  for (const [what, place] of Object.entries(places))
    test(`an event that waits where its buy was before it closed goes out with ${what} of where it is now`, async (context) => {
      const { channels } = context.sender;
      await waitingAtOld(context, async () => {
        await channels.open(buy, { events: { url: HOOK, operation_id: "op", authentication: hmac("old") } });
        await channels.impairment("mb", fraud);
      });
      await channels.open(buy, { events: { operation_id: "op", ...place } });
      await channels.close("mb");
      await delivered(of, context, place.url);
    });

  test("an event that waits where its task was attached before the task ended there goes out too", async (context) => {
    const { sender, network } = context;
    await waitingAtOld(context, async () => {
      await sender.tasks.register(start(), { a2a: { url: HOOK, token: secretOf("old") } });
      await sender.tasks.update("task-1", { status: "working" });
    });
    await sender.tasks.attach(start(), { url: NEW, token: secretOf("new") });
    await sender.tasks.update("task-1", { status: "failed" });
    await until(() => network.sent.some(({ url }) => url === NEW));
    await noneOut(sender);
    await delivered(of, context, NEW);
    const tokens = network.sent.filter(({ url }) => url === NEW).map(({ headers }) => Object.values(headers));
    assert.ok(tokens.every((values) => values.includes(secretOf("new"))));
  });

  test.run();
}
