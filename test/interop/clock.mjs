// Shifts this process's clock: storyboards carry dates of mid 2026, and the runner replaces those that have passed.
const offset = Date.parse("2026-03-15T12:00:00Z") - Date.now();
const Real = Date;
globalThis.Date = new Proxy(Real, {
  construct: (target, args, self) => Reflect.construct(target, args.length === 0 ? [Real.now() + offset] : args, self),
  apply: () => new Real(Real.now() + offset).toString(),
  get: (target, key) => (key === "now" ? () => Real.now() + offset : Reflect.get(target, key)),
});
