/** What an application gives a seller of the library's behaviours. */
import type { Release } from "../contract/index.js";
import type { SellerHandler, SellerOptions, SellerStore } from "../seller/types.js";
import type { MetricsOptions } from "./metrics.js";
import type { Ports } from "./ports/index.js";

type Shared<R extends Release> = Omit<
  SellerOptions<R, string, SellerStore>,
  "tools" | "store" | "sender" | "signing" | "specialisms" | "baseUrl" | "name" | "releases"
>;

/** A release that was read at run time says nothing to the compiler, and takes nothing from what others say. */
export type WrittenRelease<R extends Release> = R extends Release
  ? string extends keyof R["tools"]
    ? never
    : R
  : never;

type ToolNames<R extends Release> = R extends Release ? keyof R["tools"] & string : never;

/** A tool as each of the releases has it. */
type ToolOf<R extends Release, N extends string> = R extends { readonly tools: { readonly [K in N]: infer T } }
  ? T
  : never;

/** The tools of all releases, each answered: a request is one of any of them, and so may the answer be. */
export type ToolHandlers<R extends Release> = {
  readonly [N in ToolNames<R>]: SellerHandler<ToolOf<R, N>>;
};

/** `O`: the further releases that are served, for the types of `tools`. */
export interface BehavingSellerOptions<R extends Release = Release, O extends Release = Release> extends Shared<R> {
  /** The newest release that is served; what is claimed has its ids. */
  readonly release: R;
  /**
   * Further releases, served to callers who pin them or what is between: each call is answered in its caller's, by the same
   * ports and from the same store.
   */
  readonly releases?: readonly O[];
  /** Where callers reach it, without a path: `https://seller.example`. */
  readonly baseUrl: string;
  /** For people. */
  readonly name: string;
  /** What is claimed; ids as the release has them. */
  readonly specialisms: readonly string[];
  /** Areas that stand in no specialism. */
  readonly with?: readonly string[];
  /** What is the application's own; defaults that work for what is left out. */
  readonly ports?: Partial<Ports>;
  /** Where its state is: `sqlite:<file>`, `postgres://...`, or a store that is open, `shardedByPrincipal` too. */
  readonly database: string | SellerStore;
  /** Private JWK that signs webhooks; its public part is published. In development one is made where none is given. */
  readonly key?: object & { readonly kid: string };
  /** JWKs that signed before it: their public parts stay published, for what is under way. */
  readonly formerKeys?: readonly (object & { readonly kid: string })[];
  /**
   * Private JWK, made for `response-signing`, that signs what a brand says to claims; its public part is published. In
   * development one is made where none is given; in production claims are not answered without it.
   */
  readonly responseKey?: object & { readonly kid: string };
  /** How /metrics is served; false for nowhere, and where `meter` is given. */
  readonly metrics?: MetricsOptions | false;
  /**
   * Tools that the application answers itself; it is given the library's, to go on from:
   * `tools: (own) => ({ get_products: async (request, ctx) => own.get_products(request, ctx) })`.
   */
  readonly tools?: (own: ToolHandlers<R | WrittenRelease<O>>) => Partial<ToolHandlers<R | WrittenRelease<O>>>;
}
