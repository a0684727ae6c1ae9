/** OpenTelemetry's context across `await`, as the SDKs of applications keep it. */
import { AsyncLocalStorage } from "node:async_hooks";
import { type Context, context, ROOT_CONTEXT } from "@opentelemetry/api";

/** @returns what ends it */
export function keepContext(): () => void {
  const kept = new AsyncLocalStorage<Context>();
  context.setGlobalContextManager({
    active: () => kept.getStore() ?? ROOT_CONTEXT,
    with: (active, job, self, ...args) => kept.run(active, () => job.call(self as never, ...args)),
    bind: (_active, target) => target,
    enable() {
      return this;
    },
    disable() {
      return this;
    },
  });
  return () => context.disable();
}
