/** `expect_substitution_safe`: values of a catalogue stand in a preview's URLs encoded, and are expanded once. */
import { createHash } from "node:crypto";
import { isJsonObject } from "../../contract/index.js";
import { headersOf, PROBE_MS, readStart } from "../agent/http.js";
import type { StoryboardStep } from "../document.js";
import { suiteFile } from "../load.js";
import type { OwnOutcome, OwnTask } from "../own-task.js";
import { fieldAt, valuesAt } from "../paths.js";
import type { GradedCheck } from "../result.js";
import type { StoryState } from "../state.js";
import { atMacro, schemeOf, trackerUrls } from "./tracker-urls.js";

/** Where suites keep the values and what has to come of them. */
const VECTORS = "test-vectors/catalog-macro-substitution.json";
/** test-kits/substitution-observer-runner.yaml: a preview's size, bytes. */
const PREVIEW_BYTES = 256 * 1024;
/** Characters that a violation shares with the value it came of, so that it is told of that one. */
const LEAST_ALIKE = 3;

interface Binding {
  readonly macro: string;
  readonly item: string;
  readonly vector: string;
  readonly raw: string;
  readonly expected: string;
  /** It stands in no public file: reports show its digest. */
  readonly custom: boolean;
}

/** NFC, then all but RFC 3986's unreserved characters as escaped UTF-8. */
const encoded = (value: string): string =>
  encodeURIComponent(value.normalize("NFC")).replace(
    /[!'()*]/g,
    (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`,
  );

/** Digits of escapes in either case are the same; everything else is compared as it is. */
const sameHex = (text: string): string => text.replace(/%[0-9a-f]{2}/gi, (triplet) => triplet.toUpperCase());

/** A field of a catalogue's item that an earlier step has sent: `{SKU}` is its `sku`. */
function sentValue(item: string, macro: string, story: StoryState): string | undefined {
  const field = macro.replace(/[{}]/g, "").toLowerCase();
  for (const { request } of story.answers.values())
    for (const { value } of valuesAt(request.payload, "catalogs[*].items[*]"))
      if (isJsonObject(value) && value.item_id === item && typeof value[field] === "string") return value[field];
  return undefined;
}

function bindingOf(given: Record<string, unknown>, story: StoryState): Binding | string {
  const [macro, item, vector] = [given.macro, given.catalog_item_id, given.vector_name].map((one) => String(one ?? ""));
  const named = { macro: macro!, item: item!, vector: vector! };
  if (typeof given.raw_value === "string")
    return {
      ...named,
      raw: given.raw_value,
      expected: typeof given.expected_encoded === "string" ? given.expected_encoded : encoded(given.raw_value),
      custom: true,
    };
  const rows = suiteFile(story.run.suite, VECTORS)?.vectors;
  const row = Array.isArray(rows) ? rows.find((one) => isJsonObject(one) && one.name === vector) : undefined;
  const raw = row?.value ?? sentValue(item!, macro!, story);
  if (typeof raw !== "string") return `no vector ${vector} in ${VECTORS}, and no item ${item} sent before`;
  const shown = row && atMacro(String(row.template), String(row.macro), String(row.expected))[0];
  return { ...named, raw, expected: shown ?? encoded(raw), custom: false };
}

async function fetched(url: string, story: StoryState): Promise<string | { unusable: string }> {
  const unusable = (why: string): { unusable: string } => ({ unusable: `preview_url_unusable (${why})` });
  if (!URL.canParse(url)) return unusable("ssrf_blocked: it is no URL");
  // The run talks to the agent's own host anyway; whatever else a preview names is judged as a stranger's address.
  if (new URL(url).origin !== new URL(story.run.primary.url).origin) return guarded(url, unusable);
  try {
    const response = await story.run.fetch(url, { redirect: "manual", signal: AbortSignal.timeout(PROBE_MS) });
    const body = await readStart(response, PREVIEW_BYTES + 1);
    return judgedBody(response.status, headersOf(response)["content-type"], body, unusable);
  } catch {
    return unusable("fetch_timeout");
  }
}

function judgedBody(
  status: number,
  type: string | undefined,
  body: string,
  unusable: (why: string) => { unusable: string },
): string | { unusable: string } {
  if (status >= 300 && status < 400) return unusable("redirect_returned");
  if (status !== 200) return unusable(`http_status: ${status}`);
  if (!/^(text\/html|application\/xhtml\+xml)\b/i.test(type ?? "")) return unusable(`content_type: ${type}`);
  return Buffer.byteLength(body) > PREVIEW_BYTES ? unusable("size_exceeded") : body;
}

async function guarded(
  url: string,
  unusable: (why: string) => { unusable: string },
): Promise<string | { unusable: string }> {
  const { createGuardedFetch } = await import("../../net/index.js");
  const fetch = createGuardedFetch({ timeouts: { connectMs: 3_000, readMs: PROBE_MS, totalMs: PROBE_MS } });
  try {
    const answer = await fetch(url, { maxBytes: PREVIEW_BYTES });
    if (!answer.ok)
      return unusable(`${answer.code.includes("timeout") ? "fetch_timeout" : "ssrf_blocked"}: ${answer.code}`);
    return judgedBody(
      answer.status,
      answer.headers["content-type"],
      Buffer.from(answer.body).toString("utf8"),
      unusable,
    );
  } finally {
    await fetch.close();
  }
}

const shown = ({ custom, raw }: Binding): string =>
  custom ? `sha256:${createHash("sha256").update(raw).digest("hex")}` : raw;

const alike = (left: string, right: string): number => {
  let at = 0;
  while (at < left.length && left[at] === right[at]) at++;
  return at;
};

/** Why a value that is not what was expected is wrong. */
function violation({ raw, vector }: Binding, observed: string): string {
  const macro = /\{\w+\}/.exec(raw)?.[0];
  if (macro === undefined || !vector.includes("nested")) return "substitution_encoding_violation";
  const kept = observed.includes(macro) || sameHex(observed).includes(encoded(macro));
  return kept ? "substitution_encoding_violation" : "nested_macro_re_expansion";
}

interface Observed {
  readonly url: string;
  readonly value: string;
}

function judgedBinding(
  binding: Binding,
  observed: readonly Observed[],
  all: readonly Binding[],
  step: StoryboardStep,
): GradedCheck {
  const { expected, raw, item } = binding;
  const base = { check: "substitution_encoded", description: `${item}: stands encoded where ${binding.macro} was` };
  if (observed.some(({ value }) => sameHex(value) === sameHex(expected))) return { ...base, outcome: "passed" };
  const others = all.filter((one) => one !== binding).map((one) => sameHex(one.expected));
  const left = observed.filter(({ value }) => value !== binding.macro && !others.includes(sameHex(value)));
  const score = ({ value }: Observed): number => Math.max(alike(value, raw), alike(value, expected));
  const [nearest] = left
    .filter((one) => all.every((other) => other === binding || score(one) >= alike(one.value, other.raw)))
    .sort((a, b) => score(b) - score(a));
  if (nearest !== undefined && score(nearest) >= Math.min(LEAST_ALIKE, raw.length)) {
    const offset = alike(sameHex(nearest.value), sameHex(expected));
    const note = `${violation(binding, nearest.value)}: of ${shown(binding)}, at byte ${offset} of the value in ${nearest.url}`;
    return { ...base, outcome: "failed", expected, actual: nearest.value, note };
  }
  const every = step.require_every_binding_observed !== false && step.require_all_bindings_observed !== false;
  const note = `substitution_binding_missing: no URL of the preview has a value where ${binding.macro} was, for ${item}`;
  if (!every) return { ...base, outcome: "not_applicable", note };
  return { ...base, outcome: "failed", expected, actual: observed.map(({ value }) => value), note };
}

/** A macro that is a whole URL must not change what kind of URL it is. */
function schemeCheck(template: string, urls: readonly string[]): GradedCheck[] {
  const odd = urls.filter((url) => /^(javascript|data|vbscript):/i.test(url.trim()));
  const base = { check: "url_scheme_preserved", description: "no value of the catalogue makes another scheme" };
  const expected = schemeOf(template);
  if (odd.length === 0) return [{ ...base, outcome: "passed" }];
  return [{ ...base, outcome: "failed", expected, actual: odd, note: "substitution_scheme_injection" }];
}

const atPointer = (value: unknown, pointer: string): unknown =>
  fieldAt(
    value,
    pointer
      .split("/")
      .filter((token) => token !== "")
      .join("."),
  );

/** The step before this one in its phase: its answer has the preview. */
function sourceOf(step: StoryboardStep, story: StoryState): OwnOutcome | { preview: unknown; id: string } {
  const steps = story.storyboard.phases.find((phase) => phase.steps.includes(step))?.steps ?? [];
  const before = steps.slice(0, steps.indexOf(step)).at(-1);
  const result = before && story.results.get(before.id);
  if (before === undefined || result?.status !== "passed") {
    const detail = `${before?.id ?? "the step before"} ${result === undefined ? "was not run" : `was ${result.status.replace("_", " ")}`}`;
    return { skip: { reason: "prerequisite_failed", detail } };
  }
  const preview = atPointer(story.answers.get(before.id)?.payload, String(step.source_path ?? "/preview_html"));
  return { preview, id: before.id };
}

export const expectSubstitutionSafe: OwnTask = async (step, _phase, story) => {
  const source = sourceOf(step, story);
  if (!("preview" in source)) return source;
  const answer = story.answers.get(source.id)!;
  const evidence = { answer };
  const { preview } = source;
  if (typeof preview !== "string" || preview === "")
    return { ...evidence, problem: `preview_source_unavailable: ${source.id} has nothing at ${step.source_path}` };
  const given = Array.isArray(step.catalog_bindings) ? step.catalog_bindings.filter(isJsonObject) : [];
  const bindings = given.map((one) => bindingOf(one, story));
  const lacking = bindings.find((one) => typeof one === "string");
  if (lacking !== undefined) return { skip: { reason: "fixture_unavailable", detail: lacking } };
  const all = bindings as Binding[];
  const html = step.source === "url_fetch" ? await fetched(preview, story) : preview;
  if (typeof html !== "string") return { ...evidence, problem: html.unusable };
  const template = String(step.macro_template ?? "");
  const urls = trackerUrls(html);
  const observedOf = ({ macro }: Binding): Observed[] =>
    urls.flatMap((url) => atMacro(template, macro, url).map((value) => ({ url, value })));
  const checks = all.map((binding) => judgedBinding(binding, observedOf(binding), all, step));
  return { ...evidence, checks: [...checks, ...schemeCheck(template, urls)] };
};
