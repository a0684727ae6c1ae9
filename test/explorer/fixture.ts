/** Small releases with events, one of them by somebody who means harm, and the sites of them. */
import { mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { loadReleases } from "../../cli/explorer/load.js";
import { type ComparedReleases, planExplorer } from "../../cli/explorer/plan.js";
import type { Site } from "../../generator/explorer/site.js";
import { type Files, schema, smallRelease, tempFolder, writeRelease } from "../support/release.js";

const text = { type: "string" };

/** The small release with two kinds of events and an error that others speak of. */
// biome-ignore lint/suspicious/noExplicitAny: a test reaches into JSON it wrote itself
export function eventfulRelease(change: (files: Record<string, any>) => void = () => undefined): string {
  // biome-ignore lint/suspicious/noExplicitAny: as above
  const files: Record<string, any> = smallRelease();
  files["media-buy/order-webhook.json"] = schema("media-buy/order-webhook.json", {
    title: "Order webhook",
    description: "Tells of an order that changed. NOT_FOUND is never told.",
    type: "object",
    properties: {
      idempotency_key: text,
      notification_type: { enum: ["order.changed", "order.ended"] },
      line: { $ref: "/schemas/1.2.3/core/line.json" },
      product_id: { $ref: "/schemas/1.2.3/core/line.json#/properties/product_id" },
      orders: { $ref: "/schemas/1.2.3/media-buy/list-orders-response.json#/properties/orders" },
    },
    required: ["idempotency_key", "notification_type"],
  });
  change(files);
  return writeRelease(files as Files);
}

/** The release after it: a field is demanded, a tool and a code are new. */
export const nextRelease = (): string =>
  eventfulRelease((files) => {
    const manifest = files["manifest.json"];
    manifest.proto_version = "1.3.0";
    manifest.generated_at = "2026-02-03T04:05:06Z";
    manifest.error_codes.SOLD_OUT = { recovery: "correctable", description: "All sold.", suggestion: "Ask for less." };
    manifest.tools.cancel_order = { ...manifest.tools.end_session, protocol: "media-buy" };
    files["media-buy/list-orders-request.json"].properties = { account_id: { ...text, description: "Whose orders." } };
    files["media-buy/list-orders-request.json"].required = ["account_id"];
    files["session/end-session-response.json"] = schema("session/end-session-response.json", {
      $ref: "/schemas/1.2.3/core/line.json",
    });
    // No likely text is one of these.
    files["session/end-session-request.json"].properties = { session_id: { ...text, pattern: "^a{3}$" } };
  });

export const HARM = '</script><script>globalThis.harmed=1</script><img src=x onerror="globalThis.harmed=1">';

/** Names, texts, values and files that would run where they are not escaped. */
export const harmfulRelease = (): string =>
  eventfulRelease((files) => {
    const manifest = files["manifest.json"];
    manifest.tools.place_order.added_in = HARM;
    manifest.error_codes.NOT_FOUND.description = HARM;
    manifest.error_codes.NOT_FOUND.suggestion = `${HARM} ](javascript:alert(1)) \u202eemos`;
    manifest.error_code_policy.note = HARM;
    manifest.specialisms.selling.title = HARM;
    manifest.specialisms.selling.exercised_tools.push(HARM);
    const request = files["media-buy/place-order-request.json"];
    request.description = `${HARM} [a](javascript:alert(1)) \`${HARM}\``;
    request.title = HARM;
    request.properties[HARM] = { type: "string", description: HARM, pattern: `^${HARM}`, default: HARM };
    request.examples = [{ idempotency_key: HARM, lines: [] }];
    files["enums/order-status.json"].enum.push(HARM);
    files["enums/order-status.json"].enumDescriptions = { [HARM]: HARM };
    files["media-buy/order-webhook.json"].properties.notification_type.enum.push(HARM, "../../up", "a b");
    files["core/<script>harm<.json"] = schema("core/harm.json", { title: HARM, type: "object" });
  });

export async function siteOf(paths: readonly string[], compare: ComparedReleases = "all"): Promise<Site> {
  const { releases } = await loadReleases(paths);
  return planExplorer(releases, { compare });
}

export function writeSite(site: Site): string {
  const folder = tempFolder();
  for (const [file, print] of site) {
    const full = path.join(folder, file);
    mkdirSync(path.dirname(full), { recursive: true });
    writeFileSync(full, print());
  }
  return folder;
}
