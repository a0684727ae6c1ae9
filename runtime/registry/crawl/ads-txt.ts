/** `MANAGERDOMAIN` of an ads.txt file (docs/protocol/files.md#where-it-is, 3). */
import { publisherDomain } from "../model.js";

const entry = /^\s*managerdomain\s*=([^#]*)(?:#(.*))?$/i;

/**
 * The manager a publisher names: the last entry counts, but those with `noagents` in their comment are not for agents.
 * Entries with a country (`x.com,US`) name no domain, and are none of ours.
 * @returns undefined where there is none
 */
export function managerDomainOf(text: string): string | undefined {
  let manager: string | undefined;
  for (const line of text.split(/\r\n|\r|\n/)) {
    const [, value, comment = ""] = entry.exec(line) ?? [];
    if (value === undefined || /\bnoagents\b/i.test(comment)) continue;
    const given = value.trim();
    // A path or a scheme makes it something else than a domain.
    manager = (/[/:]/.test(given) ? undefined : publisherDomain(given)) ?? manager;
  }
  return manager;
}
