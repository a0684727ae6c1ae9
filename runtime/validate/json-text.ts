/** One text for each JSON value, whatever the order of its keys: equal values have equal texts. */
export const jsonText = (value: unknown): string => {
  if (typeof value !== "object" || value === null) return JSON.stringify(value) ?? "";
  if (Array.isArray(value)) return `[${value.map(jsonText).join(",")}]`;
  const keys = Object.keys(value).sort();
  return `{${keys.map((key) => `${JSON.stringify(key)}:${jsonText((value as Record<string, unknown>)[key])}`).join(",")}}`;
};

export const hasDuplicates = (items: readonly unknown[]): boolean =>
  items.length > 1 && new Set(items.map(jsonText)).size !== items.length;
