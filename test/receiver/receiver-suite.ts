/** A suite whose every test opens receivers with a route for one task, closed after it. */
import { suite, type uvu } from "uvu";
import { SELLER, type Setup, type SetupOptions, setup } from "../support/receiver.js";

interface Context {
  open: (options?: SetupOptions) => Promise<Setup>;
  opened: Setup[];
}

export function receiverSuite(name: string): uvu.Test<Context> {
  const test = suite<Context>(name);
  test.before.each((context) => {
    context.opened = [];
    context.open = async (options) => {
      const made = await setup(options);
      context.opened.push(made);
      await made.receiver.expect({ route: "/hooks/a", sender: SELLER, kind: "task", operationId: "op-1" });
      return made;
    };
  });
  test.after.each(async ({ opened }) => {
    for (const one of opened) await one.close();
  });
  return test;
}
