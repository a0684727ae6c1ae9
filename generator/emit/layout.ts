/** Values over lines, as a person would write them: whoever compares two versions of a file reads which entry changed. */

/** How a value is written. */
interface Style {
  /** Columns a value may take before its entries get a line each. */
  width: number;
  /** Whether the columns before it count. */
  whole: boolean;
  step: string;
  key(name: string): string;
  /** Stands inside the braces of an object on one line. */
  pad: string;
  /** Ends the last of entries that have a line each. */
  last: string;
}

const isPlainKey = (name: string): boolean => /^[A-Za-z_$][\w$]*$/.test(name);

const literal = (value: unknown): string => JSON.stringify(value);

export const keyText = (name: string): string => (isPlainKey(name) ? name : literal(name));

const code: Style = { width: 100, whole: false, step: "  ", key: keyText, pad: " ", last: "," };

/** One column a level: a schema is deep, and each column of thousands of lines is loaded with it. */
const json: Style = { width: 120, whole: true, step: " ", key: literal, pad: "", last: "" };

function written(value: unknown, style: Style, indent: string, before: number): string {
  if (typeof value !== "object" || value === null) return literal(value);
  const inner = indent + style.step;
  const entries = Array.isArray(value)
    ? value.map((one) => written(one, style, inner, 0))
    : Object.entries(value).map(([name, one]) => {
        const key = `${style.key(name)}: `;
        return key + written(one, style, inner, key.length);
      });
  const [open, close] = Array.isArray(value) ? ["[", "]"] : ["{", "}"];
  const pad = Array.isArray(value) || entries.length === 0 ? "" : style.pad;
  const line = `${open}${pad}${entries.join(", ")}${pad}${close}`;
  // A comma may follow.
  const columns = line.length + (style.whole ? indent.length + before + 1 : 0);
  if (columns <= style.width && !line.includes("\n")) return line;
  const lines = entries.map((entry, index) => `${inner}${entry}${index === entries.length - 1 ? style.last : ","}\n`);
  return `${open}\n${lines.join("")}${indent}${close}`;
}

/** Object or list as code. @param indent of the line it begins on */
export const sourceText = (value: unknown, indent = "  "): string => written(value, code, indent, 0);

/** Characters that end a line to some readers of code, and not to others. */
const lineEnds: Record<string, string> = { "\u2028": "\\u2028", "\u2029": "\\u2029" };

/**
 * JSON over lines, as a template literal: but for backslashes, backticks and `${` it reads as the JSON it is.
 * @param before columns that the line has already
 */
export const jsonLiteral = (text: string, before = 0): string =>
  `\`${written(JSON.parse(text), json, "", before)
    .replace(/[\\`]|\$(?=\{)/g, "\\$&")
    .replace(/[\u2028\u2029]/g, (end) => lineEnds[end]!)}\``;
