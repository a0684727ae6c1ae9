/** Where delivery is known, buyers may have reports of it sent to them. */
import { randomUUID } from "node:crypto";
import type { Release } from "../contract/index.js";
import type { Sender } from "../sender/sender.js";
import type { ReportSource } from "../sender/types.js";
import type { ServedAreas } from "./areas.js";
import { type BehaviourSettings, type CallFacts, standingCall } from "./frame/call.js";

interface Reporting {
  /** The newest first. */
  readonly releases: readonly Release[];
  readonly mode: CallFacts["mode"];
  readonly now: (() => number) | undefined;
  /** Who sends the reports; it is there by the time that one is due. */
  sender(): Sender;
}

export function reportSource(
  settings: BehaviourSettings,
  { areas }: ServedAreas,
  { releases, mode, now = Date.now, sender }: Reporting,
): { readonly reports?: ReportSource } {
  const makers = areas.flatMap(({ report }) => report ?? []);
  if (makers.length === 0) return {};
  const reports: ReportSource = (wanted) => {
    const release = releases.find(({ version }) => version === wanted.release) ?? releases[0]!;
    const { principal } = wanted;
    const facts = { release, mode, principal, now, uuid: randomUUID, sender: sender(), logger: undefined };
    return standingCall(settings, facts, async (call) => {
      for (const make of makers) {
        const report = await make(call, wanted);
        if (report !== undefined) return report;
      }
      throw new Error(`no media buy ${wanted.mediaBuyId}`);
    });
  };
  return { reports };
}
