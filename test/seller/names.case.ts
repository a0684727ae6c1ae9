/** Names that no index takes, of what sellers keep: refused in the same words on every store. */
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { createAccountChanges } from "../../runtime/seller/index.js";
import { documentStore } from "../../runtime/store/index.js";
import { codeOf } from "../support/thrown.js";
import { wide } from "../support/wide.js";
import type { SellerCase } from "./store-suite.js";

export function namesOfSellersCase(of: SellerCase): void {
  const test = suite(`${of.name}: names`);
  test("names that no index takes are refused at once, and the longest that are taken are kept", async () => {
    const store = await of.open();
    const documents = documentStore(store.database as never);
    const put = (over: object) =>
      documents.commit([{ collection: "c", owner: "o", id: "i", version: 0, body: "{}", ...over }]);
    for (const name of ["collection", "owner", "id"])
      assert.is(await codeOf(() => put({ [name]: wide(1_024) })), "name_invalid");
    assert.is(await codeOf(() => put({ owner: wide(400), id: wide(400) })), "name_invalid", "together");
    const [owner, id] = [wide(312), wide(312)];
    await put({ owner, id });
    assert.equal(
      (await documents.list("c", owner)).map((one) => one.id),
      [id],
    );
    const changes = createAccountChanges<never>({ store, accountOf: () => undefined });
    const record = (account: string) =>
      of.within(store as never, (tx) =>
        changes.record(
          {
            ...{ account, action: "updated", origin: { kind: "seller_system" }, repair: { task: "list_accounts" } },
            resource: { type: "creative", resource_id: "c" },
          },
          tx,
        ),
      );
    assert.is(await codeOf(() => record(wide(1_024))), "name_invalid");
    await record(wide(600));
    await store.close();
  });
  test.run();
}
