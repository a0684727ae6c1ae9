/** Credentials that a step is sent with, apart from the run's own. */
import type { JsonObject } from "../contract/index.js";
import type { StepAuth } from "./document.js";
import { fieldAt } from "./paths.js";
import type { RunState } from "./state.js";

const basic = (user: string, password: string): string =>
  `Basic ${Buffer.from(`${user}:${password}`).toString("base64")}`;

/** A token that no issuer has made. */
function randomJwt(uuid: () => string): string {
  const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString("base64url");
  return `${part({ alg: "RS256", typ: "JWT", kid: uuid() })}.${part({ sub: uuid(), exp: 4_102_444_800 })}.${Buffer.from(uuid()).toString("base64url")}`;
}

/** Value of the Authorization header; undefined for none. */
export function authorizationOf(
  auth: StepAuth,
  kit: JsonObject,
  { uuid, authorization }: RunState,
): string | undefined {
  if (auth === "none") return undefined;
  const { type, from_test_kit: fromKit, value_strategy: strategy } = auth;
  if (strategy === "random_invalid_jwt") return `Bearer ${randomJwt(uuid)}`;
  if (strategy === "random_invalid")
    return type === "basic" ? basic(`invalid-${uuid()}`, uuid()) : `Bearer invalid-${uuid().replaceAll("-", "")}`;
  if (fromKit !== true) return authorization;
  if (type === "basic") {
    const user = fieldAt(kit, "auth.basic.username");
    return typeof user === "string" ? basic(user, String(fieldAt(kit, "auth.basic.password") ?? "")) : undefined;
  }
  const key = fieldAt(kit, "auth.api_key");
  return typeof key === "string" ? `Bearer ${key}` : undefined;
}

/** A credential of the command line as a header: a bearer token, or a whole value such as `Basic ...`. */
export const authorizationFor = (auth: string | undefined): string | undefined =>
  auth === undefined || /^\w+ \S/.test(auth) ? auth : `Bearer ${auth}`;
