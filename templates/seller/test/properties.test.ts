/** A property list, and delivery held to it. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { codeOf, openTestSeller } from "./caller.js";

let seller: Awaited<ReturnType<typeof openTestSeller>>;
before(async () => {
  seller = await openTestSeller();
});
after(() => seller.close());

const domain = (value: string) => ({ type: "domain", value });

test("delivery outside the list is told", async () => {
  const made = await seller.call("create_property_list", {
    name: "Ours",
    base_properties: [{ selection_type: "identifiers", identifiers: [domain("a.example")] }],
  });
  const { list_id } = made.list as { list_id: string };
  const judge = (value: string) =>
    seller.read("validate_property_delivery", { list_id, records: [{ identifier: domain(value), impressions: 1 }] });
  assert.equal((await judge("a.example")).compliant, true);
  assert.equal((await judge("b.example")).compliant, false);
  const changed = { list_id, filters: { exclude_identifiers: [domain("a.example")] } };
  await seller.call("update_property_list", changed);
  assert.equal((await judge("a.example")).compliant, false);
  await seller.call("delete_property_list", { list_id });
  assert.equal(codeOf(await seller.read("get_property_list", { list_id })), "REFERENCE_NOT_FOUND");
});
