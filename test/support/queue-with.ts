/** A queue with some of its methods replaced. */
import type { Queue } from "../../runtime/queue/types.js";

/** The same queue but for `own`, whose methods may call those of `queue`. */
export const queueWith = (queue: Queue, own: Partial<Queue>): Queue =>
  new Proxy(queue, {
    get(target, name) {
      const value: unknown = Reflect.get(own, name) ?? Reflect.get(target, name, target);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
