import { test } from "uvu";
import { onPostgres } from "./on-postgres.js";

const stop = await onPostgres("sender on postgres");

test.after(stop);
test("the cluster is stopped", () => undefined);
test.run();
