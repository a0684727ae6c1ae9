/**
 * Who is in an audience, in parts: a change of a few among many thousands reads and writes theirs alone. A small audience is one part; a
 * larger one has a part for each beginning of its members' digests.
 */
import { createHash } from "node:crypto";
import canonicalize from "canonicalize";
import { accountCollection } from "../accounts/of-accounts.js";
import type { BehaviourCall } from "../frame/call.js";

interface Part {
  readonly account_id: string;
  /** Digests: who each is, a dot, and all that is known of it. */
  readonly members: readonly string[];
}

/** Whose members. */
export interface AudiencePlace {
  readonly accountId: string;
  readonly audienceId: string;
}

/** How many there are, and how many characters of their digests tell the part of each. */
export interface Crowd {
  readonly size: number;
  readonly depth: number;
}

const kept = accountCollection<Part>("audience-members");

/**
 * Most members of an audience whose parts are told by so many characters. With two there are four thousand parts, which is dear where
 * thousands come at once: each of their parts is read and written by itself.
 */
const MOST = [2_000, 1_000_000] as const;
/** What digests are written in. */
const LETTERS = [..."ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"];

const depthOf = (size: number): number => {
  const depth = MOST.findIndex((most) => size <= most);
  return depth < 0 ? MOST.length : depth;
};

const partsAt = (depth: number): readonly string[] =>
  depth === 0 ? [""] : partsAt(depth - 1).flatMap((part) => LETTERS.map((letter) => part + letter));

const idOf = (audienceId: string, part: string): string => JSON.stringify([audienceId, part]);

const digest = (text: string): string => createHash("sha256").update(text).digest("base64url");

/** Members are the same person when their own identifier is; else when all they are known by is. */
const identityIn = (member: object): string => {
  const { external_id, ...rest } = member as { external_id?: string };
  return digest(external_id ?? canonicalize(rest) ?? "");
};

/** Characters of the digest that tells a member's new e-mail from its old one. */
const KNOWN = 16;

const knownOf = (member: object): string => digest(canonicalize(member) ?? "").slice(0, KNOWN);

/** By identity; of some parts. */
type People = Map<string, Map<string, string>>;

async function read(
  call: BehaviourCall,
  { accountId, audienceId }: AudiencePlace,
  parts: readonly string[],
): Promise<People> {
  const found = await Promise.all(parts.map((part) => kept.get(call, accountId, idOf(audienceId, part))));
  return new Map(
    parts.map((part, at) => [
      part,
      new Map((found[at]?.members ?? []).map((one) => one.split(".", 2) as [string, string])),
    ]),
  );
}

function write(call: BehaviourCall, place: AudiencePlace, part: string, people: ReadonlyMap<string, string>): void {
  const id = idOf(place.audienceId, part);
  const members = [...people].map(([identity, known]) => `${identity}.${known}`);
  if (members.length === 0) kept.remove(call, place.accountId, id);
  else kept.put(call, id, { account_id: place.accountId, members });
}

/** Changes who is in it. @returns undefined where nobody came, went or is known by something else */
export async function changeMembers(
  call: BehaviourCall,
  place: AudiencePlace,
  before: Crowd,
  { add, remove }: { readonly add: readonly object[]; readonly remove: readonly object[] },
): Promise<Crowd | undefined> {
  const wanted = new Map<string, string | undefined>(add.map((one) => [identityIn(one), knownOf(one)]));
  for (const one of remove) wanted.set(identityIn(one), undefined);
  const partOf = (identity: string): string => identity.slice(0, before.depth);
  const people = await read(call, place, [...new Set([...wanted.keys()].map(partOf))]);
  const changed = new Set<string>();
  let { size } = before;
  for (const [identity, known] of wanted) {
    const part = people.get(partOf(identity))!;
    if (part.get(identity) === known) continue;
    changed.add(partOf(identity));
    size += Number(known !== undefined) - Number(part.has(identity));
    if (known === undefined) part.delete(identity);
    else part.set(identity, known);
  }
  if (changed.size === 0) return undefined;
  const depth = Math.max(before.depth, depthOf(size));
  if (depth === before.depth) for (const part of changed) write(call, place, part, people.get(part)!);
  else await divide(call, place, { people, from: before.depth, to: depth });
  return { size, depth };
}

/** Makes smaller parts of all there are. @param people parts that have changed */
async function divide(
  call: BehaviourCall,
  place: AudiencePlace,
  { people, from, to }: { readonly people: People; readonly from: number; readonly to: number },
): Promise<void> {
  const others = await read(
    call,
    place,
    partsAt(from).filter((part) => !people.has(part)),
  );
  dropMembers(call, place, from);
  const all = [...people.values(), ...others.values()].flatMap((part) => [...part]);
  for (const [part, members] of Map.groupBy(all, ([identity]) => identity.slice(0, to)))
    write(call, place, part, new Map(members));
}

/** Forgets all of them. @param depth as their audience has it */
export function dropMembers(call: BehaviourCall, { accountId, audienceId }: AudiencePlace, depth: number): void {
  for (const part of partsAt(depth)) kept.remove(call, accountId, idOf(audienceId, part));
}
