/** Effects run inside a transaction: on SQLite they must not wait, and on PostgreSQL what they begin has to be waited for. */

/** Goes on with what a write came to: `ctx.effect((tx) => after(sender.channels.close(id, { tx })))`. */
export const after = <T>(value: T | Promise<T>, then: (value: T) => void = () => undefined): void | Promise<void> =>
  value instanceof Promise ? value.then(then) : then(value);
