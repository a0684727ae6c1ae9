/** What a port is told comes with a key: one for each thing that is wanted, which is the same however often that is tried. */
import { test } from "uvu";
import * as assert from "uvu/assert";
import {
  type AudienceChange,
  exampleConversations,
  exampleCreatives,
  exampleSignals,
  listedSignals,
} from "../../runtime/behaviours/index.js";
import { account, behavingSeller, key, versions, versionsWith } from "./behaving-seller.js";

const others = { brand: { domain: "novamotors.example" }, operator: "pinnacle.example" };

/** Fails the first time, after it was told. */
function losing<T>(answer: T): () => T {
  let times = 0;
  return () => {
    times += 1;
    if (times === 1) throw new Error("the answer was lost");
    return answer;
  };
}

for (const version of versions) {
  test(`${version}: a signal that is brought again, after it was taken away, is told of under a new key`, async () => {
    const platform = new Map<string, "on" | "off">();
    let live = false;
    const told = (key: string, to: boolean) => {
      if (platform.has(key)) return;
      platform.set(key, to ? "on" : "off");
      live = to;
    };
    const signals = {
      ...listedSignals(exampleSignals),
      activate: async (_: unknown, _at: unknown, { idempotencyKey }: { idempotencyKey: string }) =>
        told(idempotencyKey, true),
      deactivate: async (_: unknown, _at: unknown, { idempotencyKey }: { idempotencyKey: string }) =>
        told(idempotencyKey, false),
    };
    const { ask, close } = await behavingSeller(version, ["signal_marketplace"], { ports: { signals } });
    const wanted = {
      ...{ account, signal_agent_segment_id: "prism_high_ltv", pricing_option_id: "po_prism_flat_monthly" },
      destinations: [{ type: "platform", platform: "dsp", account: "seat" }],
    };
    for (const action of ["deactivate", "activate", "deactivate", "activate", "activate"]) {
      const { deployments } = await ask("activate_signal", { ...key(), ...wanted, action });
      assert.equal([action, deployments[0].is_live, live], [action, action === "activate", action === "activate"]);
    }
    assert.is(platform.size, 5 - 1);
    await close();
  });

  test(`${version}: one key of a caller's is another thing for another account, and for another request`, async () => {
    const told: [string, string][] = [];
    const audiences = {
      async change({ name }: AudienceChange, { idempotencyKey }: { readonly idempotencyKey: string }) {
        told.push([name!, idempotencyKey]);
        if (told.length === 1) throw new Error("nobody there");
      },
    };
    const { ask, refused, close } = await behavingSeller(version, [], { with: ["audiences"], ports: { audiences } });
    const one = key();
    const sync = (name: string, of: object) => {
      const add = [{ external_id: "u1", hashed_email: "a".repeat(64) }];
      return { ...one, account: of, audiences: [{ audience_id: "walkers", name, add }] };
    };
    await refused("sync_audiences", sync("Wolkers", account));
    await ask("sync_audiences", sync("Walkers", account));
    await ask("sync_audiences", sync("Drivers", others));
    assert.is(new Set(told.map(([, under]) => under)).size, 3, JSON.stringify(told));
    await close();
  });
}

for (const version of await versionsWith("creative_ad_server"))
  test(`${version}: who serves a creative is told of one tag, though its first answer was lost`, async () => {
    const tags = new Set<string>();
    const served = losing(undefined);
    const creatives = {
      ...exampleCreatives,
      async serve({ tagId }: { tagId: string }, { idempotencyKey }: { idempotencyKey: string }) {
        tags.add(`${tagId} ${idempotencyKey}`);
        served();
      },
    };
    const { ask, refused, close } = await behavingSeller(version, ["creative_ad_server"], { ports: { creatives } });
    const assets = { video: { asset_type: "video", url: "https://cdn.example/h.mp4", width: 1920, height: 1080 } };
    const params = { creative_id: "hero", fixture: { format_id: { id: "video_30s" }, assets } };
    await ask("comply_test_controller", {
      account: { ...account, sandbox: true },
      scenario: "seed_creative",
      params,
    });
    const target_format_id = { agent_url: "https://creative.example", id: "vast_30s" };
    const wanted = { ...key(), account, creative_id: "hero", target_format_id, media_buy_id: "mb_1" };
    await refused("build_creative", wanted);
    await ask("build_creative", wanted);
    assert.is(tags.size, 1);
    await close();
  });

for (const version of versions)
  test(`${version}: a brand answers what was said, though an answer before that was lost`, async () => {
    const answered = new Map<string, string>();
    const lost = losing(undefined);
    const conversations = {
      ...exampleConversations,
      async reply(
        { message = "(begins)" }: { readonly message?: string },
        { idempotencyKey }: { idempotencyKey: string },
      ) {
        const said = answered.get(idempotencyKey) ?? `about: ${message}`;
        answered.set(idempotencyKey, said);
        if (message !== "(begins)") lost();
        return { message: said };
      },
    };
    const own = await behavingSeller(version, [], { with: ["sponsored-intelligence"], ports: { conversations } });
    const identity = { consent_granted: true, user: { locale: "en-US" } };
    const { session_id } = await own.ask("si_initiate_session", { ...key(), intent: "Long trips", identity });
    await own.refused("si_send_message", { ...key(), session_id, message: "the first one" });
    const { response } = await own.ask("si_send_message", { ...key(), session_id, message: "the second one" });
    assert.is(response.message, "about: the second one");
    await own.close();
  });

test.run();
