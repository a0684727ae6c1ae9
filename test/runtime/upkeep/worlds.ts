/** Everything in adbind that works by a timer on a database, with something due for each of its steps. */
import { crawl } from "./crawl.js";
import { receiver, receiverAtWork, receiverOfSplit } from "./receiver.js";
import { part, prober, registry, replicas } from "./registry.js";
import { abandoned, atWork, behaviours, call, seller } from "./seller.js";
import { secretKeysKept, sender, senderOnSeveral } from "./sender.js";
import type { World } from "./world.js";

export const worlds: readonly World[] = [
  ...[seller, call, abandoned, atWork, behaviours],
  ...[sender, secretKeysKept, senderOnSeveral],
  ...[receiver, receiverAtWork, receiverOfSplit],
  ...[registry, replicas, part, prober, crawl],
];
