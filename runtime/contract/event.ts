/** Events that a seller sends unasked, as the generator writes them. */
import type { SchemaRef } from "./schema.js";

declare const body: unique symbol;

/** One kind of event. `Body` exists for the compiler only: the whole body, or the `result` in a task's envelope. */
export interface TypedEvent<Body = unknown> {
  readonly schema: SchemaRef;
  readonly [body]?: Body;
}

/** Kinds of events by their names on the wire. */
export type Events = { readonly [kind: string]: TypedEvent };

/** What an event of this type carries. */
export type EventBodyOf<E> = E extends TypedEvent<infer Body> ? Body : never;
