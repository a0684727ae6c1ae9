/** Where the people of an audience are known: they are counted here, and found there. */
import type { AudiencesPort } from "adbind/behaviours";

/** Your user graph's API; without one nobody is told. */
const userGraph = process.env.AUDIENCES_URL;

export const audiences: AudiencesPort = {
  ...(userGraph !== undefined && { upstream: true }),
  // Members as the buyer sent them, hashed; at least once with the same key.
  async change(audience, { idempotencyKey }) {
    if (userGraph === undefined) return;
    const headers = { "content-type": "application/json", "idempotency-key": idempotencyKey };
    const answer = await fetch(`${userGraph}/audiences`, { method: "POST", headers, body: JSON.stringify(audience) });
    if (!answer.ok) throw new Error(`the audience was answered ${answer.status}`);
  },
};
