/** Texts to try where a schema wants one of a form: one that fits is found among these, or made from the pattern. */
const A_DIGEST = "0123456789abcdef".repeat(4);

/** Format -> a text of it. */
const byFormat: Readonly<Record<string, string>> = {
  "date-time": "2026-01-01T00:00:00Z",
  date: "2026-01-01",
  time: "00:00:00Z",
  duration: "P1D",
  uri: "https://example.com/a",
  "uri-reference": "/a",
  "uri-template": "https://example.com/{a}",
  url: "https://example.com/a",
  email: "a@example.com",
  hostname: "example.com",
  ipv4: "192.0.2.1",
  ipv6: "2001:db8::1",
  uuid: "0f8fad5b-d9cb-469f-a165-70867728950e",
  regex: "a",
  "json-pointer": "/a",
};

const stock: readonly string[] = [
  ...Object.values(byFormat),
  "a",
  "value",
  "A",
  "AA",
  "US",
  "USD",
  "en",
  "en-US",
  "EUR",
  "1",
  "10",
  "100",
  "3.1",
  "3.1.0",
  "a_b",
  "a-b",
  "A_B",
  "a.b",
  "a/b",
  "#00ff00",
  "P30D",
  "PT1H",
  "1h",
  "30d",
  "00:00",
  "2026-01",
  "text/plain",
  "image/png",
  "application/json",
  "a".repeat(16),
  "a".repeat(32),
  "a".repeat(43),
  "a".repeat(64),
  A_DIGEST,
  `sha256:${A_DIGEST}`,
  A_DIGEST.slice(0, 32),
  A_DIGEST.slice(0, 40),
  "example.com/a",
  "http://example.com/",
  "did:web:example.com",
  "*",
  "{a}",
  "[a]",
];

/** Texts that fit next to nothing. */
export const odd: readonly string[] = [
  "",
  " ",
  "no such text",
  "~!@",
  "ÄÖ",
  "0",
  "-1",
  "x".repeat(300),
  "00.1",
  "01.1.1",
  "1.1-a..b",
  "1.1-",
  "a--b",
  "-a",
  "a-",
  "A.",
  "__",
];

const fits = (text: string, patterns: Iterable<string>): boolean =>
  [...patterns].every((pattern) => new RegExp(pattern, "u").test(text));

/** A text from a plain pattern: sets, groups of one alternative, and counts; undefined for what it cannot read. */
function fromPattern(pattern: string): string | undefined {
  let rest = pattern.replace(/^\^/, "").replace(/\$$/, "");
  let made = "";
  while (rest !== "") {
    const atom = /^(\\[dw]|\\.|\[(?!\^)(?:\\.|[^\]\\])+\]|\((?:\?:)?([^()|]*)(?:\|[^()]*)?\)|[^\\[\](){}*+?|^$])/u.exec(
      rest,
    );
    if (atom === null) return undefined;
    rest = rest.slice(atom[0].length);
    const count = /^(\{(\d+)(,\d*)?\}|[*+?])/.exec(rest);
    rest = rest.slice(count?.[0].length ?? 0);
    const times = count === null || count[0] === "+" ? 1 : Number(count[2] ?? 0);
    const one = fromAtom(atom[0], atom[2]);
    if (one === undefined) return undefined;
    made += one.repeat(times);
  }
  return made;
}

function fromAtom(atom: string, group: string | undefined): string | undefined {
  if (group !== undefined) return fromPattern(group);
  if (atom === "\\d") return "1";
  if (atom === "\\w") return "a";
  if (atom.startsWith("\\")) return atom.slice(1);
  if (atom === ".") return "a";
  if (!atom.startsWith("[")) return atom;
  const set = new RegExp(`^${atom}$`, "u");
  return ["a", "A", "1", "_", "-", ".", "/", ":", "b", "f", "0"].find((one) => set.test(one));
}

/** What a text must keep. */
export interface TextDemand {
  readonly patterns: ReadonlySet<string>;
  readonly formats: ReadonlySet<string>;
  readonly min: number;
  readonly max: number;
}

/**
 * Texts that fit, the likeliest first; one that fits nothing is given where none does, for the validator to refuse.
 * @param hints texts of the release's own, e.g. its examples
 */
export function textsFor(demand: TextDemand, hints: readonly string[] = []): readonly string[] {
  const { patterns, formats, min, max } = demand;
  const key = JSON.stringify([[...patterns], [...formats], min, max, hints]);
  const known = fitting.get(key) ?? fittingTexts(demand, hints);
  fitting.set(key, known);
  return known;
}

/** What was found for a demand; there are a few hundred in a release. */
const fitting = new Map<string, readonly string[]>();

function fittingTexts({ patterns, formats, min, max }: TextDemand, hints: readonly string[]): string[] {
  const wanted = [...formats].flatMap((format) => byFormat[format] ?? []);
  const made = [...patterns].flatMap((pattern) => fromPattern(pattern) ?? []);
  const all = [...(wanted.length > 0 ? wanted : []), ...hints, ...made, ...stock];
  const sized = all.map((text) =>
    text.length < min && formats.size === 0 ? text.padEnd(Math.min(min, 10_000), "a") : text,
  );
  const found = [...new Set(sized)].filter((text) => text.length >= min && text.length <= max && fits(text, patterns));
  return found.length > 0 ? found.slice(0, 6) : ["value"];
}
