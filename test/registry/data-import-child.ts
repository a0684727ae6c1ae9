/** Imports a file, telling each batch; to be killed. */
import { readFileSync } from "node:fs";
import { importRegistry } from "../../runtime/registry/transfer/import.js";
import { openStore } from "../../runtime/store/index.js";

const [url, file] = process.argv.slice(2) as [string, string];
const store = await openStore(url);
await importRegistry(store, readFileSync(file, "utf8").split("\n"), {
  id: "killed",
  progress: ({ lines, profiles }) => process.stdout.write(`${lines} ${profiles}\n`),
});
await store.close();
