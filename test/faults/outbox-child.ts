/**
 * An application of docs/examples/outbox for the faults run: takes orders and approves them until it is killed. It opens its
 * shop at once and begins when it is told to, so that the next is ready when one has been killed.
 */
import path from "node:path";
import { createInterface } from "node:readline";

interface Plan {
  readonly example: string;
  readonly url: string;
  readonly name: string;
}

interface Shop {
  take(id: string, webhook: string): Promise<void>;
  approve(id: string): Promise<void>;
  close(): Promise<void>;
}

const { example, url, name } = JSON.parse(process.argv[2]!) as Plan;
const file = path.join(import.meta.dirname, "../../docs/examples/outbox", `${example}.ts`);
const { openShop } = (await import(file)) as { openShop(url: string): Promise<Shop> };
const shop = await openShop(url);
console.log("ready");

for await (const line of createInterface({ input: process.stdin })) {
  const [word, ...ids] = line.split(" ");
  if (word === "go") {
    for (let index = 0; ; index++) {
      const id = `${name}-${index}`;
      await shop.take(id, "https://buyer.example/hook");
      console.log(`approving ${id}`);
      await shop.approve(id);
    }
  }
  // Again, by an application that does not know what became of its commits.
  for (const id of ids) await shop.approve(id);
  await shop.close();
  // What it hears commands by would keep it alive.
  process.exit();
}
