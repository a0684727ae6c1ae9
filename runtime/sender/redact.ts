/** What may be shown of a delivery: `webhook_activity[]` goes to others than the one who chose the URL. */

/** Longest error shown, in characters (docs/protocol/webhooks.md#activity). */
const ERROR_CHARACTERS = 500;
/** Segments this long that mix letters and digits are taken for tokens. */
const TOKEN_CHARACTERS = 20;
/** Runs of hex digits from this length on are, too; shorter ones are numbers and colours. */
const HEX_CHARACTERS = 16;

const isSecret = (segment: string): boolean => {
  const plain = decode(segment);
  return (
    /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i.test(plain) ||
    new RegExp(`^[0-9a-f]{${HEX_CHARACTERS},}$`, "i").test(plain) ||
    /^(?:sk|pk|tok|key|whsec|secret|token)[_\-.=:]/i.test(plain) ||
    /^ey[\w-]{8,}\./.test(plain) ||
    (plain.length >= TOKEN_CHARACTERS && /\d/.test(plain) && /[A-Za-z]/.test(plain))
  );
};

const decode = (segment: string): string => {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
};

/** What stands in place of a segment that looks like a secret. */
export const REDACTED = "redacted";

/** URLs that were redacted lately, which are asked for again with each attempt. */
const redacted = new Map<string, string>();
const REDACTED_URLS = 2_000;

/** A URL without its user, query and fragment, and without path segments that look like secrets. */
export function redactUrl(text: string): string {
  const known = redacted.get(text);
  if (known !== undefined) return known;
  const shown = withoutSecrets(text);
  if (redacted.size >= REDACTED_URLS) redacted.clear();
  redacted.set(text, shown);
  return shown;
}

function withoutSecrets(text: string): string {
  if (!URL.canParse(text)) return "(unreadable URL)";
  const url = new URL(text);
  const path = url.pathname
    .split("/")
    .map((segment) => (isSecret(segment) ? REDACTED : segment))
    .join("/");
  return `${url.protocol}//${url.host}${path}`;
}

/** An error as it may be shown: one line, bounded. */
export const boundError = (text: string): string =>
  text
    .replaceAll(/[\p{Cc}\p{Cf}]+/gu, " ")
    .slice(0, ERROR_CHARACTERS)
    .toWellFormed();

/** Longest excerpt of an answer, in characters. */
const ANSWER_CHARACTERS = 256;

/** What a receiver answered, as it may be kept. */
export interface AnswerExcerpt {
  readonly text: string;
  /** There was more. */
  readonly cut: boolean;
}

/**
 * The beginning of an answer's body on one line, without what looks like a secret and without those that are known.
 * @param secrets of the registration: a receiver may echo what it was sent
 */
export function answerExcerpt(
  body: Uint8Array,
  truncated: boolean,
  secrets: readonly string[],
): AnswerExcerpt | undefined {
  let text = new TextDecoder().decode(body);
  for (const secret of secrets) text = text.replaceAll(secret, "[redacted]");
  text = text
    .replaceAll(/[\p{Cc}\p{Cf}\s]+/gu, " ")
    .replaceAll(/[\w\-.~+/=%]+/g, (word) => (isSecret(word) ? "[redacted]" : word))
    .trim();
  if (text === "") return undefined;
  return { text: text.slice(0, ANSWER_CHARACTERS).toWellFormed(), cut: truncated || text.length > ANSWER_CHARACTERS };
}
