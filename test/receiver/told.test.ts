/** What is refused is seen, and what was set up wrongly is told with its remedy. */
import * as assert from "uvu/assert";
import { AdbindError } from "../../runtime/errors.js";
import { envelope, errorOf, receiverSuite, SELLER, sellerKey, send, signed } from "../support/receiver.js";

const test = receiverSuite("told");

const warnings = (logs: readonly string[]) =>
  logs.map((line) => JSON.parse(line)).filter(({ level, msg }) => level === 40 && msg === "webhook refused");

test("a refusal is a warning with its step and detail, and the eleventh of a minute is only counted", async ({
  open,
}) => {
  const s = await open();
  const stranger = sellerKey("stranger");
  for (let i = 0; i < 25; i += 1) await send(s, envelope(), { key: stranger });
  const told = warnings(s.logs);
  assert.is(told.length, 10);
  assert.equal(
    [told[0].code, told[0].step, told[0].sender, told[0].keyid],
    ["webhook_signature_key_unknown", 7, SELLER, "stranger"],
  );
  await s.receiver.handle({ ...(await signed(s, envelope())), target: "/none" });
  assert.is(warnings(s.logs).at(-1).code, "unknown_route", "strangers have lines of their own");
  s.clock.ms += 60_000;
  const bearer = { "content-type": "application/json", authorization: "Bearer no" };
  const answer = await s.receiver.handle({ ...(await signed(s, envelope())), headers: bearer });
  assert.is(answer.status, 401);
  const last = warnings(s.logs).at(-1);
  assert.is(last.untold, 15);
  assert.is(last.detail, "registered for signature, received Bearer");
});

test("a body that is not raw is the application's mistake, told with the remedy", async ({ open }) => {
  const s = await open();
  const request = await signed(s, envelope());
  for (const body of [null, undefined, "{}", { parsed: true }, 7]) {
    const answer = await s.receiver.handle({ ...request, body: body as never });
    assert.equal([answer.status, errorOf(answer)], [500, "body_not_raw"]);
  }
  const line = s.logs.map((one) => JSON.parse(one)).find(({ level }) => level === 50);
  assert.match(line.msg, "give the raw body: mount the receiver before express.json()");
  assert.is((await s.receiver.handle(request)).status, 200, "nothing was used up");
});

test("expect refuses kinds, modes and formats that are none", async ({ open }) => {
  const { receiver } = await open();
  for (const [wrong, name] of [
    [{ kind: "nope" }, "kind"],
    [{ mode: "Nope" }, "mode"],
    [{ format: "xml" }, "format"],
  ] as const) {
    try {
      await receiver.expect({ route: "/hooks/x", sender: SELLER, kind: "task", ...(wrong as object) });
      assert.unreachable();
    } catch (error) {
      assert.ok(error instanceof AdbindError && error.code === "registration_invalid");
      assert.match(error.message, new RegExp(`there is no ${name} .*give one of`, "s"));
    }
  }
});

test("a store that fails is told with cause and remedy, and costs those requests only", async ({ open }) => {
  const s = await open();
  const { inbox } = s.store;
  const { accept } = inbox;
  const cause = new AdbindError("database_failed", "the database file failed: the disk is full", {
    where: "inbox.db",
    remedy: "make room on it",
  });
  Object.assign(inbox, { accept: () => Promise.reject(cause) });
  assert.is((await send(s, envelope())).status, 503);
  const line = s.logs.map((one) => JSON.parse(one)).find(({ level }) => level === 50);
  assert.equal([line.code, line.msg], ["database_failed", cause.message]);
  Object.assign(inbox, { accept });
  assert.is((await send(s, envelope())).status, 200);
});

test.run();
