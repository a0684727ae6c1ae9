/** An SDK that refuses a message throws its validator's findings, JSON over many lines: the first says what is wrong. */
import { isJsonObject } from "../../contract/index.js";

function findingsIn(text: string): readonly unknown[] | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return Array.isArray(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** What an SDK's error says, in one short line where it is such a list. */
export function sdkWords(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  const at = message.indexOf("[");
  const findings = at < 0 ? undefined : findingsIn(message.slice(at));
  const [first] = findings ?? [];
  if (findings === undefined || !isJsonObject(first)) return message;
  const place = Array.isArray(first.path) && first.path.length > 0 ? ` at /${first.path.join("/")}` : "";
  const head = message.slice(0, at) || "the answer is none of MCP: ";
  const more = findings.length > 1 ? `, and ${findings.length - 1} more` : "";
  return `${head}${String(first.message)}${place}${more}`;
}
