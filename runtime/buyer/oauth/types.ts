/** What an application says of its OAuth client, and where tokens are kept. */
import type { MaybePromise } from "../../contract/index.js";

/** Tokens as they are kept between runs. Whoever has them can call as the buyer. */
export interface OAuthTokens {
  readonly accessToken: string;
  readonly refreshToken?: string;
  /** Whose they are: nobody else is shown the refresh token, whomever the agent names by then. */
  readonly issuer: string;
  /** Unix milliseconds; absent where the issuer did not say. */
  readonly expiresAt?: number;
}

/** Keeps tokens by the agent they are for: a file, a database, a vault. */
export interface TokenStore {
  get(agentUrl: string): MaybePromise<OAuthTokens | undefined>;
  /** @param tokens undefined when they are no longer good */
  set(agentUrl: string, tokens: OAuthTokens | undefined): MaybePromise<void>;
}

/** What a person came back with from the issuer's page: the URL it sent the browser to. */
export type Authorize = (url: string) => MaybePromise<string>;

/** How a buyer gets access tokens from an agent's authorization server. */
export interface OAuthOptions {
  readonly clientId: string;
  /** Without one the client is public: it can only act for a person. */
  readonly clientSecret?: string;
  readonly scope?: string;
  /**
   * The one issuer that is trusted, where an agent may name several. Wanted with `clientSecret`, which is shown to whoever it gave
   * it only: an agent may name any issuer, and so one of its own.
   */
  readonly issuer?: string;
  /** Kept in memory by default: after a restart a person is asked again. */
  readonly tokens?: TokenStore;
  /**
   * Sends a person to a URL and gives back where the issuer sent them on: the authorization code flow with PKCE. Without it the
   * client speaks for itself (client credentials).
   */
  readonly authorize?: Authorize;
  /** Where the issuer sends the person back to; wanted with `authorize`. */
  readonly redirectUri?: string;
}
