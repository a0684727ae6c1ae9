// The published storyboards carry dates of mid 2026, and their runner replaces those that have passed by new ones at
// every call: a repeated request is then no repetition. Runner and sellers therefore live before those dates.
const offset = Date.parse("2026-03-15T12:00:00Z") - Date.now();
const Real = Date;
globalThis.Date = new Proxy(Real, {
  construct: (target, args, self) => Reflect.construct(target, args.length === 0 ? [Real.now() + offset] : args, self),
  apply: () => new Real(Real.now() + offset).toString(),
  get: (target, key) => (key === "now" ? () => Real.now() + offset : Reflect.get(target, key)),
});
