/**
 * Reads policies about spending written in words. It knows a few sentences well and says so about the rest: a rule nobody could
 * read is for a person to judge, never for nobody.
 */
import type { SpendingRule, WrittenPolicy } from "./policy.js";

const channelWords =
  "display olv video ctv linear_tv audio radio podcast social search dooh ooh print email gaming influencer";

/** Kinds of placement that policies name beside channels. */
const placementWords = "ugc user_generated live news kids";

const named = `${channelWords} ${placementWords}`.split(" ");

const amountIn = (digits: string, unit = ""): number =>
  Number(digits.replaceAll(",", "")) * ({ k: 1_000, m: 1_000_000 }[unit.toLowerCase()] ?? 1);

function scopeOf({ policy, channels = [] }: WrittenPolicy): Pick<SpendingRule, "mentions" | "over"> {
  const words = new Set(policy.toLowerCase().split(/[^\p{L}\p{N}_]+/u));
  const over = /\b(?:over|above|exceeding)\s+\$?([\d,.]*\d)\s*([km])?\b/i.exec(policy);
  // "above 60%" is a share, not an amount.
  const amount = over !== null && policy[over.index + over[0].length] !== "%" ? over : null;
  return {
    mentions: [...new Set([...channels, ...named.filter((word) => words.has(word))])],
    ...(amount !== null && { over: amountIn(amount[1] ?? "0", amount[2]) }),
  };
}

const percentIn = (text: string): number | undefined => {
  const found = /(\d+(?:\.\d+)?)\s*%/.exec(text);
  return found === null ? undefined : Number(found[1]);
};

/** The rule that a policy states. */
export function spendingRule(policy: WrittenPolicy): SpendingRule {
  const text = policy.policy;
  const scope = scopeOf(policy);
  const percent = percentIn(text);
  if (/single[- ]seller|one seller|per seller/i.test(text) && percent !== undefined)
    return { ...scope, mentions: [], kind: "seller_share", percent };
  if (/\bdrift/i.test(text) && percent !== undefined) return { ...scope, mentions: [], kind: "drift", percent };
  const every = /\b(hourly|daily|weekly|monthly)\b[^.]*\breport/i.exec(text)?.[1]?.toLowerCase();
  if (every !== undefined) return { ...scope, kind: "reporting", every: every as "weekly" };
  const review = /\b(?:requires?|needs?|subject to)\s+(?:an?\s+)?([^.]*?review)\b/i.exec(text)?.[1];
  if (review !== undefined) return { ...scope, kind: "review", of: review };
  return { ...scope, kind: "unread" };
}
