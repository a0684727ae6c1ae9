/** `adbind outbox secrets`: keys under which secrets of registrations are kept. */
import { existsSync, readFileSync, realpathSync, renameSync } from "node:fs";
import type { Command } from "commander";
import { AdbindError } from "../runtime/errors.js";
import { printable } from "../runtime/printable.js";
import { resealSecrets } from "../runtime/sender/reseal.js";
import { countBodies } from "../runtime/sender/reseal-bodies.js";
import { newSecretKey, parseSecretKeys, secretKeyId } from "../runtime/sender/secret-keys.js";
import { withDraft } from "./draft-file.js";
import { type KeysOption, keysOption, outboxCommand, withOutbox } from "./outbox-store.js";
import { plural, printJson, shownPath, userPath } from "./output.js";
import type { StoreOption } from "./store.js";

const unusable = (file: string, what: string, remedy: string, cause: unknown): AdbindError =>
  new AdbindError("secret_keys_invalid", what, { where: shownPath(file), remedy, cause });

function create(given: string, { id, last = false }: { id?: string; last?: boolean }): void {
  const path = userPath(given);
  // A link stays a link: secrets are often mounted as one.
  const file = existsSync(path) ? realpathSync(path) : path;
  const line = newSecretKey(id ?? secretKeyId(Date.now()));
  const text = (): string => {
    const before = existsSync(file) ? readFileSync(file, "utf8") : "";
    const all = last ? `${before.trimEnd()}\n${line}\n` : `${line}\n${before}`;
    parseSecretKeys(all, shownPath(path));
    return all.trimStart();
  };
  withDraft(file, text, { place: (draft) => renameSync(draft, file), unusable });
  const [name] = line.split(" ");
  console.log(
    `${shownPath(path)} has the key ${name}, ${last ? "which opens" : "under which secrets are sealed from now on"}`,
  );
}

async function rotate({ json, ...option }: StoreOption & KeysOption): Promise<void> {
  await withOutbox(option, "change", async (_outbox, parts) => {
    if (!parts.keyring.seals)
      throw new AdbindError("usage", "no keys are named", {
        remedy: "give --keys <file>, or set ADBIND_SECRET_KEYS_FILE",
      });
    const came = await resealSecrets(parts);
    if (json) printJson(came);
    else {
      console.log(`${came.resealed} sealed anew, ${came.current} under the current key before`);
      if (came.lost > 0)
        console.error(`${came.lost} are under keys that are not among these: adbind outbox secrets list`);
      if (came.foreign > 0) console.error(`${came.foreign} do not belong where they stand: a column was changed`);
    }
    if (came.lost + came.foreign > 0) process.exitCode = 1;
  });
}

async function list({ json, ...option }: StoreOption & KeysOption): Promise<void> {
  await withOutbox(option, "read", async (_outbox, { queue, tables, keyring }) => {
    const rows = await queue.read((q) => tables.countSecrets(q));
    const counted = new Map(rows.map(({ key_id: key, n }) => [key, Number(n)]));
    const bodies = await countBodies({ queue, tables });
    const keys = [...new Set([...counted.keys(), ...bodies.keys()])].sort().map((key) => {
      const known = keyring.knows(key) ? "known" : "not among the keys";
      const state = key === keyring.current ? "current" : known;
      return { key, registrations: counted.get(key) ?? 0, bodies: bodies.get(key) ?? 0, state };
    });
    if (json) return printJson({ keys });
    for (const { key, registrations, bodies: events, state } of keys) {
      const held = `${plural(registrations, "registration")}, ${plural(events, "event")}`;
      console.log(printable(`${key.padEnd(24)} ${held.padEnd(34)} ${state}`));
    }
    console.log(plural(keys.length, "key"));
  });
}

export function register(command: Command): void {
  const secrets = command
    .command("secrets")
    .description("keys under which secrets of registrations, and sealed bodies, are kept: new, list, rotate");
  secrets
    .command("new")
    .description("puts a new key into a file, as the current one; makes the file where it is not there")
    .argument("<file>", "keys, a line each")
    .option("--id <id>", "its name; by default the time")
    .option("--last", "as the last one: it opens, and the current one stays; for senders to learn it first")
    .action(create);
  keysOption(outboxCommand(secrets, "list", "how many registrations and sealed bodies are under which key"))
    .option("--json", "as JSON")
    .action(list);
  keysOption(outboxCommand(secrets, "rotate", "seals every secret, and every sealed body, anew under the current key"))
    .option("--json", "as JSON")
    .action(rotate);
}
