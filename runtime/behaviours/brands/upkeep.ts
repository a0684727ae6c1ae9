/** Licences that somebody thinks about, and those that are taken back. */
import { eachAlone } from "../../queue/periodic.js";
import type { Upkeep } from "../frame/behaviour.js";
import type { BehaviourCall } from "../frame/call.js";
import { giveBack } from "../governance/authority.js";
import type { Revocation } from "../ports/brands.js";
import { decided } from "./acquire.js";
import { releaseDays } from "./calendar.js";
import { type Grant, grants, isOver, RIGHTS_GRANTS, withCredentials } from "./grants.js";
import { tellRevocation } from "./notices.js";
import { findOffering } from "./offerings.js";

export async function carryOnRights({ settings, stopping, onBehalf }: Upkeep): Promise<void> {
  await eachAlone(await settings.store.owners(RIGHTS_GRANTS), async (principal) => {
    if (stopping.aborted) return;
    await onBehalf(principal, decideWaiting);
    await onBehalf(principal, takeBack);
  });
}

/** Asks again; what is not given frees its days. */
async function decideWaiting(call: BehaviourCall): Promise<void> {
  for (const grant of await grants.list(call, call.principal)) {
    if (grant.state !== "pending") continue;
    const offering = await findOffering(call, grant.offering_id);
    const decision = offering === undefined || isOver(call, grant) ? undefined : await decided(call, offering, grant);
    if (decision?.decision === "wait") continue;
    if (decision?.decision === "grant") {
      const given = await withCredentials(call, { ...grant, state: "granted" });
      grants.put(call, call.principal, grant.grant_id, given);
      continue;
    }
    const reason = decision?.reason ?? "The rights are no longer offered for these days.";
    await revoke(call, grant, { grantId: grant.grant_id, reason });
  }
}

async function takeBack(call: BehaviourCall): Promise<void> {
  for (const revocation of (await call.ports.brands.revoked?.({ principal: call.principal })) ?? []) {
    const grant = await grants.get(call, call.principal, revocation.grantId);
    if (grant !== undefined && grant.state !== "revoked") await revoke(call, grant, revocation);
  }
}

/** What is taken of its uses is gone, and all of it where that leaves none. Told once: it is gone when it is asked again. */
async function revoke(call: BehaviourCall, grant: Grant, revocation: Revocation): Promise<void> {
  const { uses: taken } = revocation;
  const left = taken === undefined ? [] : grant.terms.uses.filter((use) => !taken.includes(use));
  if (taken !== undefined && left.length === grant.terms.uses.length) return;
  const whole = left.length === 0;
  const changed: Grant = whole
    ? { ...grant, state: "revoked", credentials: [] }
    : await withCredentials(call, { ...grant, terms: { ...grant.terms, uses: left } });
  grants.put(call, call.principal, grant.grant_id, changed);
  if (whole) await releaseDays(call, grant.offering_id, grant.grant_id);
  // What was never given has cost nothing.
  if (whole && grant.state === "pending") await giveBack(call, { what: grant.grant_id, cost: 0 });
  tellRevocation(call, grant, revocation);
}
