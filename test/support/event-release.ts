/** A release with events of accounts and agents, and keys that stand for one payload: what its schemas say is in here. */
import { release as plain } from "../../generated/3.1.0/index.js";
import type { EventChannel, Release, TypedEvent } from "../../runtime/contract/index.js";

const required = ["idempotency_key", "notification_id", "notification_type", "fired_at", "subscriber_id"];
const text = { type: "string" };

interface Kind {
  readonly kind: string;
  readonly channels: readonly EventChannel[];
  readonly more: readonly string[];
}

const kinds: readonly Kind[] = [
  { kind: "account.status_changed", channels: ["account", "agent"], more: ["account_id", "status"] },
  { kind: "account.change_recorded", channels: ["account", "agent"], more: ["account_id", "change_id"] },
  { kind: "capabilities.changed", channels: ["agent"], more: ["agent_url"] },
];

const pathOf = (kind: string): string => `core/${kind.replace(".", "-")}-webhook.json`;

const schemaOf = ({ kind, more }: Kind): object => ({
  type: "object",
  properties: {
    ...Object.fromEntries([...required, ...more].map((name) => [name, text])),
    notification_type: { type: "string", const: kind },
  },
  required: [...required, ...more],
});

const from = "a test";
const { facts } = plain;

const shapes = Object.fromEntries(
  kinds.map(({ kind, channels, more }) => [
    kind,
    {
      value: {
        schema: pathOf(kind),
        required: [...required, ...more],
        discriminator: "notification_type",
        channels,
      },
      from,
    },
  ]),
);

/** Bodies of the events above. */
export interface AccountStatusChanged {
  readonly account_id: string;
  readonly status: string;
}

export const typedEvents = {
  "account.status_changed": { schema: pathOf("account.status_changed") } as TypedEvent<AccountStatusChanged>,
  "account.change_recorded": { schema: pathOf("account.change_recorded") } as TypedEvent<{
    readonly change_id: string;
  }>,
  "capabilities.changed": { schema: pathOf("capabilities.changed") } as TypedEvent<{ readonly agent_url: string }>,
} as const;

const tools: typeof plain.tools = plain.tools;

export const eventRelease = {
  ...plain,
  tools,
  version: "3.9.0",
  events: typedEvents,
  facts: {
    ...facts,
    events: {
      ...facts.events,
      task: {
        ...facts.events.task!,
        value: { ...facts.events.task!.value, required: [...required.slice(0, 1), "operation_id"] },
      },
      surface: { value: "protocol", from },
      keyBinding: { value: "payload", from },
      kinds: { ...facts.events.kinds, ...shapes },
    },
  },
  schemas: async () => ({
    ...(await plain.schemas()),
    ...Object.fromEntries(kinds.map((one) => [pathOf(one.kind), JSON.stringify(schemaOf(one))])),
  }),
} as const satisfies Release<typeof tools, typeof typedEvents>;

/** A body of one of its kinds. */
export const notification = (kind: string, more: object): Record<string, unknown> => ({
  idempotency_key: `key-of-${kind}-0123456789`,
  notification_id: `note-of-${kind}`,
  notification_type: kind,
  fired_at: "2026-04-18T14:00:00Z",
  subscriber_id: "buyer-primary",
  ...more,
});
