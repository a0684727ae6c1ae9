/** Names of jobs, as long as any may be, and lists of jobs, however large those are, on every engine. */
import * as assert from "uvu/assert";
import { thrownBy } from "../support/thrown.js";
import { wide } from "../support/wide.js";
import { job, put, type QueueCase, queueSuite } from "./queue-suite.js";

export function jobNamesCase(of: QueueCase): void {
  const test = queueSuite(of);
  test("names that no index takes are refused at once, and the longest that are taken are kept", async ({
    queue,
    clock,
  }) => {
    for (const name of ["key", "endpoint", "orderingKey"] as const) {
      assert.is((await thrownBy(() => put(queue, job({ [name]: wide(1_024) })))).code, "name_invalid");
      await put(queue, job({ [name]: wide(600) }));
    }
    assert.is((await thrownBy(() => queue.stop(wide(1_024), clock.at))).code, "name_invalid");
    await put(queue, job({ key: wide(600), endpoint: wide(600), orderingKey: wide(600) }));
    assert.is((await queue.list()).length, 4);
  });

  test("a list has no bodies, of which a page may be a gigabyte", async ({ queue }) => {
    await put(queue, job({ body: "é" }));
    assert.equal(
      (await queue.list()).map((one) => [one.bytes, "body" in one]),
      [[2, false]],
    );
  });
  test.run();
}
