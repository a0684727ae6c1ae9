/** Secrets that tests register, each under a name, and who takes them. */
import { eventRelease } from "../support/event-release.js";
import { listening as answering, type Reaction, type Sent } from "./fixture.js";
import type { SenderCase } from "./sender-suite.js";

export const secretOf = (name: string): string => `${name}-0123456789abcdefGHIJKLMNOPQRSTUV-${name}`;
export const hmac = (name: string) => ({ schemes: ["HMAC-SHA256"], credentials: secretOf(name) });
export const bearer = (name: string) => ({ schemes: ["Bearer"], credentials: secretOf(name) });
export const standard = (name: string) => ({
  schemes: ["standard-webhooks"],
  credentials: `whsec_${Buffer.from(secretOf(name)).toString("base64")}`,
});

export const countSecrets = async (of: SenderCase): Promise<number> =>
  Number((await of.rows("select count(*) as n from adbind_sender_secrets"))[0]!.n);

export const account = { principal: "p", account: "acct-1" };
export const told = {
  ...{ subscriber_id: "s", event_types: ["account.status_changed"], authentication: bearer("account") },
  url: `https://buyer.example/n?key=${secretOf("place")}`,
};
export const changed = { kind: "account.status_changed", account: "acct-1", body: { status: "active" } } as const;
export const AGENT = "https://seller.example/agent";
export const proving = {
  release: eventRelease as never,
  agentUrl: AGENT,
  refuse: { bearer: false, standardWebhooks: false },
};

/** An endpoint that answers challenges, and takes what is not for a dead one. */
export const listening = (sent: Sent): Reaction => (sent.url.includes("dead") ? 500 : answering(sent));
