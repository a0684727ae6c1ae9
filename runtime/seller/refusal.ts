/** How a seller refuses, or declines. */
import type { JsonObject, ProtocolError, Release } from "../contract/index.js";

/** An error as a handler states it: `recovery` and `suggestion` come from the release's table where they are left out. */
export interface SellerError<R extends Release = Release> extends ProtocolError {
  code: (keyof R["errors"] & string) | (string & {});
}

/** Why a seller that has understood what is wanted does not do it. */
export interface Declined extends JsonObject {
  /** For people, plain text. */
  readonly reason: string;
  /** What to ask for instead. */
  readonly suggestions?: string[];
}
