/** Applications that anybody may register: those by which nobody logs in do not fill the store. */
import { test } from "uvu";
import * as assert from "uvu/assert";
import { application, PASSWORD } from "./server-application.js";
import { addUser, setupRegistry } from "./server-fixture.js";

const DAY_MS = 86_400_000;

test("an application by which nobody has logged in for a day is forgotten, and one that somebody uses is kept", async () => {
  let ahead = 0;
  const now = (): number => Date.now() + ahead;
  const setup = await setupRegistry({ embeddedIssuer: true, now });
  const { begin, browser, tokens } = application(() => setup);
  const { access } = setup.registry;
  const sweep = async (): Promise<void> => {
    for (const one of access.expiring) await one.remove(now(), 1_000);
  };
  const asks = async (params: Record<string, string>): Promise<number> =>
    (await browser()("GET", `/oauth/authorize?${new URLSearchParams(params)}`)).statusCode;
  const count = () =>
    setup.store.database.query((q) => q.rows("select id from adbind_issuer_state where model = 'Client'"));
  try {
    await addUser(setup, { email: "ada@buyer.example", password: PASSWORD });
    const { flow } = await tokens();
    const idle = await begin();
    ahead = DAY_MS - 60_000;
    await sweep();
    assert.equal([await asks(flow.params), await asks(idle.params)], [303, 303]);
    ahead = DAY_MS + 60_000;
    await sweep();
    assert.equal([await asks(flow.params), await asks(idle.params), (await count()).length], [303, 400, 1]);
  } finally {
    await setup.close();
  }
});

test.run();
