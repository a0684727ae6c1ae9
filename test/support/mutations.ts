/** Values at every path of a payload, replaced or dropped: enough to break what can be broken. */
export function* mutations(value: unknown, depth = 3): Generator<unknown> {
  if (typeof value !== "object" || value === null || depth === 0) return;
  for (const key of Object.keys(value)) {
    const inner = (value as Record<string, unknown>)[key];
    const replaced = (by: unknown): unknown => {
      const copy = structuredClone(value) as Record<string, unknown>;
      copy[key] = by;
      return copy;
    };
    if (!Array.isArray(value)) {
      const { [key]: _, ...rest } = value as Record<string, unknown>;
      yield rest;
    }
    yield replaced(typeof inner === "string" ? 42 : "wrong-type");
    if (typeof inner === "string") yield replaced(`${inner}-not-in-any-enum`);
    for (const changed of mutations(inner, depth - 1)) yield replaced(changed);
  }
}

/** No more than `most` of them, from all over the payload: the larger ones have thousands alike. */
export function spread(value: unknown, most: number): unknown[] {
  const all = [...mutations(value)];
  const stride = Math.max(1, Math.floor(all.length / most));
  return all.filter((_, index) => index % stride === 0);
}
