/** `adbind registry issuer`: the keys of the built-in OAuth issuer. */
import type { Command } from "commander";
import { type IssuerKey, issuerKeys, rotateIssuerKey } from "../runtime/registry/server/auth/issuer-keys.js";
import { registryAccess } from "../runtime/store/index.js";
import { printJson } from "./output.js";
import { type StoreOption, storeOption, withStore } from "./registry-store.js";

const time = (ms: number): string => `${new Date(ms).toISOString().slice(0, 19)}Z`;

/** What a key is for now. The first is the one that signs. */
function stateOf({ signsFrom, retires }: IssuerKey, index: number, now: number): string {
  if (index === 0) return retires === null ? "signs" : `signs, and verifies until ${time(retires)}`;
  return signsFrom > now ? `signs from ${time(signsFrom)}` : `verifies until ${retires === null ? "-" : time(retires)}`;
}

async function list(options: StoreOption): Promise<void> {
  await withStore(options, async (store) => {
    const now = Date.now();
    const keys = (await issuerKeys(registryAccess(store.database), now)).map((key, index) => ({
      kid: key.jwk.kid!,
      state: stateOf(key, index, now),
    }));
    if (options.json) return printJson(keys);
    for (const { kid, state } of keys) console.log(`${kid}  ${state}`);
  });
}

async function rotate({ revoke = false, ...options }: StoreOption & { revoke?: boolean }): Promise<void> {
  await withStore(options, async (store) => {
    const { jwk, signsFrom } = await rotateIssuerKey(registryAccess(store.database), Date.now(), revoke);
    const then = revoke ? "signs now; tokens of earlier keys are refused within 30 s" : `signs from ${time(signsFrom)}`;
    console.log(`${jwk.kid}  ${then}`);
  });
}

export function register(command: Command): void {
  const issuer = command.command("issuer").description("keys of the built-in OAuth issuer: keys, rotate");
  storeOption(issuer.command("keys"))
    .description("keys that sign or verify, the one that signs first")
    .option("--json", "as JSON")
    .action(list);
  storeOption(issuer.command("rotate"))
    .description("makes a new key; the one before it verifies until the last token it signed has expired")
    .option("--revoke", "drops the keys before it at once, and with them every access token")
    .action(rotate);
}
