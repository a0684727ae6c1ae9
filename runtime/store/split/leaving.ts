/** The end of a removal: a database may be taken off the lists when nothing in it is still to be told. */
import { setTimeout as pause } from "node:timers/promises";
import type { Database } from "../../db/types.js";
import { AdbindError } from "../../errors.js";
import type { SetMember } from "./member.js";
import type { KeyspaceTables } from "./tables.js";

/** Longest wait for senders, which look every five seconds, and the pause between two looks, in milliseconds. */
const WAIT_MS = 15_000;
const PAUSE_MS = 100;

const stays = (where: string, what: string, remedy: string): AdbindError =>
  new AdbindError("split_moving", `${what}, and nobody would look at them there`, {
    where,
    remedy: `${remedy}, then run \`adbind split move\` again; take the database off no list before`,
  });

/**
 * Waits until senders have made the events of what stays in a database that leaves the set.
 * @param waitMs longest wait, in milliseconds
 * @throws AdbindError `split_moving` where something is left
 */
export async function leftEmpty(
  { name, use }: Pick<SetMember<Database>, "name" | "use">,
  { staysBehind }: Pick<KeyspaceTables, "staysBehind">,
  waitMs = WAIT_MS,
): Promise<void> {
  if (staysBehind === undefined) return;
  const end = performance.now() + waitMs;
  for (;;) {
    const { waiting, kept } = await use((database) => database.query(staysBehind));
    if (waiting === 0 && kept === 0) return;
    if (waiting === 0)
      throw stays(name, `${kept} stored changes are set aside`, "replay or drop them (`adbind outbox replay`, `drop`)");
    if (performance.now() >= end)
      throw stays(name, `${waiting} stored changes wait for their events to be made`, "have a sender run");
    await pause(PAUSE_MS);
  }
}
