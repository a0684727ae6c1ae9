/** What lines ask for that are no publisher's, in terms of the registry. */
import type { Coroutine } from "../../db/coroutine.js";
import type { Query } from "../../db/types.js";
import { putHosted } from "../../store/registry-agents.js";
import { putClaims } from "../claims.js";
import { putMember } from "../members.js";
import { memberIn, requiredDomain, urlIn } from "./convert.js";
import type { ClaimsLine, HostedLine, MemberLine } from "./lines.js";

export interface OtherWork {
  readonly kind: "other";
  readonly adds: { readonly kind: "members" | "hosted" | "claims"; readonly count: number };
  /** May run twice, in two transactions. @returns agents whose profiles are to be computed again */
  readonly run: (q: Query, now: number) => Coroutine<readonly number[]>;
}

export function memberWork(line: MemberLine): OtherWork {
  const member = memberIn(line);
  return { kind: "other", adds: { kind: "members", count: 1 }, run: (q) => putMember(q, member) };
}

export function hostedWork(line: HostedLine): OtherWork {
  const domain = requiredDomain(line.domain);
  return {
    kind: "other",
    adds: { kind: "hosted", count: 1 },
    *run(q, now) {
      yield* putHosted(q, domain, JSON.stringify(line.file), now);
      return [];
    },
  };
}

export function claimsWork(line: ClaimsLine): OtherWork {
  const url = urlIn(line.agent_url);
  const claims = new Map(
    line.claims.map(({ publisher_domain, authorized_for }) => {
      const publisherDomain = requiredDomain(publisher_domain);
      return [publisherDomain, { publisherDomain, authorizedFor: authorized_for ?? null }];
    }),
  );
  return {
    kind: "other",
    adds: { kind: "claims", count: claims.size },
    *run(q, now) {
      yield* putClaims(q, url, claims, now);
      return [];
    },
  };
}
