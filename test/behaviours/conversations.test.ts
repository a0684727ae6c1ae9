/** Conversations with a brand: consent, what is remembered, and every end that a session can have. */
import { randomUUID } from "node:crypto";
import path from "node:path";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { type ConversationsPort, type ConversationTurn, exampleConversations } from "../../runtime/behaviours/index.js";
import { openStore } from "../../runtime/store/index.js";
import { tempFolder } from "../support/release.js";
import { until } from "../support/until.js";
import { behavingSeller, key, publishedRelease, type TestSeller, versions } from "./behaving-seller.js";

const AREA = "sponsored-intelligence";
const offering_id = "novamotors_conversational_v1";
const folder = tempFolder();

const sellerOf = (
  version: string,
  conversations: Partial<ConversationsPort> = {},
  more: Parameters<typeof behavingSeller>[2] = {},
): Promise<TestSeller> =>
  behavingSeller(version, [], {
    with: [AREA],
    ports: { conversations: { ...exampleConversations, ...conversations } },
    ...more,
  });

const beginning = (more: object = {}) => ({
  ...key(),
  intent: "Long road trips",
  identity: { consent_granted: true, user: { locale: "en-US" } },
  ...more,
});

for (const version of versions) {
  test(`${version}: what is offered is told to anybody, and what was shown can be referred to`, async () => {
    const turns: ConversationTurn[] = [];
    const own = await sellerOf(version, {
      reply: (turn, call) => {
        turns.push(turn);
        return exampleConversations.reply(turn, call);
      },
    });
    const asked = { offering_id, intent: "a cheap city car", include_products: true, product_limit: 2 };
    const found = await own.ask("si_get_offering", asked);
    const [first, second] = found.matching_products;
    assert.equal([found.available, first.product_id, found.total_matching], [true, "nova_spark", 3]);
    const gone = await own.ask("si_get_offering", { offering_id: "novamotors_launch_edition" });
    assert.equal([gone.available, gone.unavailable_reason], [false, "sold_out"]);
    assert.equal([gone.alternative_offering_ids, gone.offering_token], [[offering_id], undefined]);
    assert.is((await own.refused("si_get_offering", { offering_id: "none" })).field, "offering_id");
    const { offering_token } = found;
    const { session_id } = await own.ask("si_initiate_session", beginning({ offering_token }));
    const answer = await own.ask("si_send_message", { ...key(), session_id, message: "Tell me of the second one" });
    assert.match(answer.response.message, second.name);
    assert.equal(turns[1]!.conversation.shown, [first.product_id, second.product_id]);
    const foreign = await own.refused("si_initiate_session", beginning({ offering_token }), "another-host");
    assert.is(foreign.field, "offering_token");
    await own.close();
  });

  test(`${version}: what a person has not agreed to share is neither kept nor passed on`, async () => {
    const seen: unknown[] = [];
    const own = await sellerOf(version, {
      reply: async ({ conversation }) => {
        seen.push(conversation.user);
        return { message: "Hello" };
      },
    });
    const user = { name: "Jo", email: "jo@example.com", locale: "de-DE" };
    const identities = [
      { consent_granted: false, user },
      { consent_granted: true, consent_scope: ["locale"], user },
      { consent_granted: true, user },
    ];
    for (const identity of identities) await own.ask("si_initiate_session", beginning({ identity }));
    assert.equal(seen, [{}, { locale: "de-DE" }, user]);
    await own.close();
  });

  test(`${version}: a host is shown what it can show`, async () => {
    const own = await sellerOf(version);
    const supported_capabilities = {
      modalities: { conversational: true, voice: true },
      components: { standard: ["link"] },
    };
    const begun = await own.ask("si_initiate_session", beginning({ supported_capabilities }));
    assert.equal(
      begun.response.ui_elements.map(({ type }: { type: string }) => type),
      ["link"],
    );
    const { modalities, components, commerce } = begun.negotiated_capabilities;
    assert.equal([modalities, components.standard, commerce], [{ conversational: true }, ["link"], undefined]);
    await own.close();
  });

  test(`${version}: a purchase is handed over, and the end of a session is told the same again`, async () => {
    const own = await sellerOf(version);
    const { session_id } = await own.ask("si_initiate_session", beginning());
    const action_response = { action: "checkout", payload: { product_id: "nova_volta" } };
    const bought = await own.ask("si_send_message", { ...key(), session_id, action_response });
    assert.equal([bought.session_status, bought.handoff.type], ["pending_handoff", "transaction"]);
    assert.equal(bought.handoff.intent.price, { amount: 39_900, currency: "USD" });
    const end = { session_id, reason: "handoff_transaction" };
    const first = await own.ask("si_terminate_session", end);
    assert.equal([first.terminated, first.acp_handoff.checkout_token], [true, session_id]);
    const again = await own.ask("si_terminate_session", { ...end, reason: "user_exit" });
    assert.equal([again.acp_handoff, again.session_status], [first.acp_handoff, first.session_status]);
    const late = await own.refused("si_send_message", { ...key(), session_id, message: "Wait" });
    assert.is(late.code, "SESSION_TERMINATED");
    const foreign = await own.refused("si_terminate_session", end, "another-host");
    assert.is(foreign.code, "SESSION_NOT_FOUND");
    await own.close();
  });

  test(`${version}: what the brand has offered last is what is bought, where the host says nothing else`, async () => {
    const intents: unknown[] = [];
    const own = await sellerOf(version, {
      checkout: async (_, intent) => {
        intents.push(intent);
        return { url: "https://novamotors.example/checkout" };
      },
    });
    const product = { product_id: "nova_volta" };
    const offered = async () => {
      const { session_id } = await own.ask("si_initiate_session", beginning());
      const action_response = { action: "checkout", payload: product };
      const { handoff } = await own.ask("si_send_message", { ...key(), session_id, action_response });
      return { session_id, intent: handoff.intent };
    };
    const reason = "handoff_transaction";
    const first = await offered();
    await own.ask("si_terminate_session", { session_id: first.session_id, reason });
    const other = { action: "subscribe", product };
    const second = await offered();
    const termination_context = { transaction_intent: other };
    await own.ask("si_terminate_session", { session_id: second.session_id, reason, termination_context });
    const third = await offered();
    await own.ask("si_send_message", { ...key(), session_id: third.session_id, message: "No, another one" });
    await own.ask("si_terminate_session", { session_id: third.session_id, reason });
    assert.equal(intents, [first.intent, other, undefined]);
    const placed = await own.refused("si_initiate_session", beginning({ placement: "x".repeat(8_001) }));
    assert.is(placed.field, "placement");
    await own.close();
  });

  test(`${version}: a session that nobody goes on with is over; a test may end one at once`, async () => {
    let now = Date.now();
    const own = await sellerOf(version, {}, { now: () => now });
    const { session_id } = await own.ask("si_initiate_session", beginning());
    now += exampleConversations.idleSeconds * 1_000 - 1;
    await own.ask("si_send_message", { ...key(), session_id, message: "And in winter?" });
    now += exampleConversations.idleSeconds * 1_000 + 1;
    const late = await own.refused("si_send_message", { ...key(), session_id, message: "Hello?" });
    assert.is(late.code, "SESSION_TERMINATED");
    const other = await own.ask("si_initiate_session", beginning());
    const scenario = { scenario: "force_session_status", account: { sandbox: true } };
    const params = { session_id: other.session_id, status: "complete" };
    const forced = await own.ask("comply_test_controller", { ...scenario, params });
    assert.equal([forced.previous_state, forced.current_state], ["active", "complete"]);
    const twice = await own.ask("comply_test_controller", { ...scenario, params });
    assert.is(twice.error, "INVALID_TRANSITION");
    await own.close();
  });

  test(`${version}: two programs that talk with each other come to an end, and a text has a length`, async () => {
    const own = await sellerOf(version, { reply: async () => ({ message: "Go on" }) });
    const { session_id } = await own.ask("si_initiate_session", beginning());
    const say = (message: string) => own.ask("si_send_message", { ...key(), session_id, message });
    let status = "active";
    let said = 1;
    for (; status === "active" && said < 300; said++) status = (await say("And then?")).session_status;
    assert.equal([status, said], ["complete", 200]);
    const long = await own.refused("si_initiate_session", beginning({ intent: "x".repeat(8_001) }));
    assert.is(long.field, "intent");
    await own.close();
  });
}

const [version] = versions;
if (version !== undefined)
  test("what a person shared is erased when its conversation is over, and told by nobody", async () => {
    const store = await openStore(`sqlite:${path.join(folder, `${randomUUID()}.db`)}`);
    const own = await sellerOf(version, { idleSeconds: 1 }, { database: store });
    const identity = { consent_granted: true, user: { email: "jo@example.com" } };
    const intent = "I am Jo, jo@example.com, and look for a car";
    await own.ask("si_initiate_session", beginning({ identity, intent }));
    const kept = async (): Promise<string> => JSON.stringify(await own.onBehalf("buyer", sessionsOf));
    assert.match(await kept(), "jo@example.com");
    await new Promise((resolve) => setTimeout(resolve, 1_100));
    await own.start({ port: 0 });
    await until(async () => !(await kept()).includes("jo@example.com"));
    await own.close();
    await store.close();
  });

type Held = Parameters<Parameters<TestSeller["onBehalf"]>[1]>[0];
const sessionsOf = ({ documents, principal }: Held) => documents.list("si_session", principal);

const unnamed = "3.2.4";
if (versions.includes(unnamed))
  test("who claims a specialism whose entry names no tools answers those of its protocol", async () => {
    const release = await publishedRelease(unnamed);
    assert.equal(release.specialisms.sponsored_intelligence!.exercised, []);
    const own = await behavingSeller(unnamed, ["sponsored_intelligence"]);
    assert.equal(own.missing, []);
    const declared = await own.ask("get_adcp_capabilities", {});
    assert.equal(declared.supported_protocols, ["sponsored_intelligence"]);
    assert.is(declared.sponsored_intelligence.endpoint.preferred, "mcp");
    assert.is((await own.ask("si_get_offering", { offering_id })).available, true);
    await own.close();
  });

test.run();
