/** Signed requests and webhooks: outcome, code and base, by the profile that each group is of. */
import path from "node:path";
import { endpointSigning } from "../../runtime/facts/index.js";
import * as signing from "../../runtime/signing/index.js";
import { reword, type Vector, type VectorSet, vectorsIn } from "../signing/corpus.js";
import { judge, runVector, type VectorRun } from "../signing/run-vector.js";
import type { Case, Folder, VectorGroup } from "./types.js";

type Kind = VectorRun["kind"];

interface Making {
  readonly folder: Folder;
  readonly kind: Kind;
  readonly suite: string;
  readonly group: string;
  readonly set: VectorSet | undefined;
  readonly rules?: signing.RequestRules;
  readonly keyUses?: readonly string[];
}

/** The base a vector's signature is over, where it holds: those published without one are signed again for another word. */
async function basesOf({ kind, set, rules }: Making): Promise<Map<string, string>> {
  const bases = new Map<string, string>();
  for (const vector of set?.vectors ?? []) {
    const run = { kind, word: "adcp", keys: set!.keys, ...(rules !== undefined && { rules }) };
    const { signatureBase } = await runVector(signing, vector, run);
    if (signatureBase !== undefined) bases.set(vector.file, signatureBase);
  }
  return bases;
}

async function groupMade(making: Making): Promise<VectorGroup[]> {
  const { folder, kind, suite, group, set, rules, keyUses } = making;
  const decided = { ...(rules !== undefined && { rules }), ...(keyUses !== undefined && { keyUses }) };
  if (set === undefined) return [];
  let bases: Map<string, string> | undefined;
  const sets = new Map<string, VectorSet>([["adcp", set]]);
  const inWord = async (word: string): Promise<VectorSet> => {
    bases ??= await basesOf(making);
    const known = sets.get(word) ?? reword(set, word, ({ file }) => bases?.get(file));
    sets.set(word, known);
    return known;
  };
  const cases = set.vectors.map(
    ({ file }, index): Case => ({
      name: file,
      async run(word) {
        const { keys, vectors } = await inWord(word);
        const vector = vectors[index]!;
        const outcome = await runVector(signing, vector, { kind, word, keys, ...decided });
        return judge(vector, outcome) ?? operationFault(vector, rules);
      },
    }),
  );
  return [{ release: folder.label, suite, group, cases }];
}

/** A vector that names its operation is dispatched as that, and as nothing else. */
function operationFault(vector: Vector, rules: signing.RequestRules | undefined): string | undefined {
  const { resolved_operation: wanted, error_code } = vector.expected_outcome;
  if (rules?.operations !== "one" || !("tier" in vector)) return undefined;
  const body = new TextEncoder().encode(vector.request.body);
  const resolved = signing.resolveOperation({ ...vector.request, body });
  if (!resolved.ok) return error_code === "request_body_malformed" ? undefined : `no operation: ${resolved.detail}`;
  const operation = resolved.invocation?.operation ?? null;
  return wanted === undefined || operation === wanted ? undefined : `resolved ${operation}, expected ${wanted}`;
}

export async function requestSigning(folder: Folder): Promise<VectorGroup[]> {
  const base = path.join(folder.at, "request-signing");
  const { nonAsciiHost } = endpointSigning([folder.release]);
  const keys = path.join(base, "keys.json");
  const of = { folder, kind: "request", suite: "request-signing" } as const;
  return [
    // The root is of the 3.1 profile in every release, and says so from 3.2 on.
    ...(await groupMade({
      ...{ ...of, group: "root", set: vectorsIn(base) },
      rules: { profile: "3.1", nonAsciiHost, operations: "named" },
    })),
    ...(await groupMade({
      ...{ ...of, group: "profile-3.2", set: vectorsIn(path.join(base, "profile-3.2"), keys) },
      rules: endpointSigning([folder.release]),
    })),
    ...(await groupMade({
      ...{ ...of, group: "a2a", set: vectorsIn(path.join(base, "a2a"), keys) },
      rules: endpointSigning([folder.release]),
    })),
  ];
}

export const webhookSigning = (folder: Folder): Promise<VectorGroup[]> =>
  groupMade({
    ...{ folder, kind: "webhook", suite: "webhook-signing", group: "root" },
    set: vectorsIn(path.join(folder.at, "webhook-signing")),
    keyUses: folder.release.facts.signing.webhookKeyUses.value,
  });
