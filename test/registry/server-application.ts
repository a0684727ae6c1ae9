/** An application and its user's browser, as the embedded issuer meets them. */
import { createHash, randomBytes } from "node:crypto";
import * as assert from "uvu/assert";
import { BASE_URL, bearer, type Setup } from "./server-fixture.js";

export const REDIRECT = "http://127.0.0.1:3999/callback";
export const PASSWORD = "a password of length";

export interface Flow {
  readonly clientId: string;
  readonly verifier: string;
  readonly params: Record<string, string>;
}

const form = (values: Record<string, string>) => ({
  payload: new URLSearchParams(values).toString(),
  headers: { "content-type": "application/x-www-form-urlencoded" },
});

/** A browser that keeps cookies and follows nothing by itself. */
function browserOf(world: () => Setup) {
  const jar = new Map<string, string>();
  return async (method: "GET" | "POST", url: string, values?: Record<string, string>) => {
    const sent = values === undefined ? { headers: {} } : form(values);
    const response = await world().registry.app.inject({
      method,
      url: url.startsWith(BASE_URL) ? url.slice(BASE_URL.length) : url,
      ...sent,
      headers: { ...sent.headers, cookie: [...jar].map(([name, value]) => `${name}=${value}`).join("; ") },
    });
    for (const { name, value } of response.cookies) {
      if (value === "") jar.delete(name);
      else jar.set(name, value);
    }
    return response;
  };
}

/** From the application's link to the code on its callback. */
async function authorizeWith(go: ReturnType<typeof browserOf>, flow: Flow, email = "ada@buyer.example"): Promise<URL> {
  let response = await go("GET", `/oauth/authorize?${new URLSearchParams(flow.params)}`);
  assert.is(response.statusCode, 303, response.body);
  const page = response.headers.location!;
  response = await go("GET", page);
  assert.match(response.body, /<label for="password">/);
  response = await go("POST", `${page}/login`, { email, password: PASSWORD });
  for (let hops = 0; hops < 6; hops += 1) {
    const location = response.headers.location!;
    assert.is(response.statusCode, 303, response.body);
    if (location.startsWith(REDIRECT)) return new URL(location);
    response = await go("GET", location);
    if (response.statusCode === 200) {
      assert.match(response.body, "<bdi>Planner &lt;b&gt;</bdi>");
      assert.match(
        String(response.headers["content-security-policy"]),
        /form-action 'self' http:\/\/127\.0\.0\.1:3999;/,
      );
      response = await go("POST", `${location}/confirm`, {});
    }
  }
  throw new Error("the log-in leads nowhere");
}

/** What an application starts a log-in with. */
function flowOf(clientId: string, extra: Record<string, string>): Flow {
  const verifier = randomBytes(32).toString("base64url");
  const challenge = createHash("sha256").update(verifier).digest("base64url");
  const params = {
    client_id: clientId,
    response_type: "code",
    redirect_uri: REDIRECT,
    scope: "openid profile email",
    state: "s-1",
    code_challenge: challenge,
    code_challenge_method: "S256",
    ...extra,
  };
  return { clientId, verifier, params };
}

/** @param world the registry, once it is there */
export function application(world: () => Setup) {
  const browser = () => browserOf(world);
  const authorize = (flow: Flow, email?: string, go = browser()): Promise<URL> => authorizeWith(go, flow, email);
  const postJson = (url: string, body: object) =>
    world().registry.app.inject({
      method: "POST",
      url,
      payload: JSON.stringify(body),
      headers: { "content-type": "application/json" },
    });

  const registerClient = async (): Promise<string> => {
    const response = await postJson("/oauth/register", { redirect_uris: [REDIRECT], client_name: "Planner <b>" });
    assert.is(response.statusCode, 201, response.body);
    return response.json().client_id;
  };

  const begin = async (extra: Record<string, string> = {}): Promise<Flow> => flowOf(await registerClient(), extra);

  const exchange = (values: Record<string, string>) =>
    world().registry.app.inject({ method: "POST", url: "/oauth/token", ...form(values) });

  async function tokens(
    email?: string,
  ): Promise<{ flow: Flow; access_token: string; refresh_token: string; id_token: string }> {
    const flow = await begin();
    const callback = await authorize(flow, email);
    assert.is(callback.searchParams.get("state"), "s-1");
    assert.is(callback.searchParams.get("iss"), BASE_URL);
    const response = await exchange({
      grant_type: "authorization_code",
      client_id: flow.clientId,
      code: callback.searchParams.get("code")!,
      redirect_uri: REDIRECT,
      code_verifier: flow.verifier,
    });
    assert.is(response.statusCode, 200, response.body);
    return { flow, ...response.json() };
  }

  const search = (token: string) =>
    world().registry.app.inject({ url: "/api/registry/agents/search", headers: bearer(token) });

  return { browser, postJson, registerClient, begin, authorize, exchange, tokens, search };
}
