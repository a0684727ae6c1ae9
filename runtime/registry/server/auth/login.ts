/** The pages between an application and its tokens: log in, then allow or refuse. They work without a script. */
import formbody from "@fastify/formbody";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { InteractionResults } from "oidc-provider";
import type { RegistryAccess } from "../../../store/index.js";
import { type Limits, limitOf } from "../limits.js";
import { html, type Part } from "../pages/html.js";
import { page, pageHeaders } from "../pages/layout.js";
import type { Issuer } from "./issuer.js";
import { formTarget, issuerPaths } from "./issuer-places.js";
import { passwordMatches } from "./passwords.js";

interface LoginOptions {
  readonly issuer: Issuer;
  readonly access: RegistryAccess;
  readonly limits: Limits;
  /** Counts one more attempt to log in with an address. @throws Problem 429 */
  readonly attempt: (email: string) => Promise<void>;
}

type Interaction = Awaited<ReturnType<Issuer["provider"]["interactionDetails"]>>;
type UidRequest = FastifyRequest<{ Params: { uid: string }; Body: Record<string, unknown> | undefined }>;

const actionOf = (uid: string, what: string): string => `${issuerPaths.interaction}/${uid}/${what}`;

const clientName = (client: { clientName?: unknown; clientId?: unknown } | undefined): string =>
  typeof client?.clientName === "string" && client.clientName !== "" ? client.clientName : "An unnamed application";

function loginPage(uid: string, problem: string | undefined, email: string): Part {
  return html`${problem === undefined ? "" : html`<p class="problem" role="alert">${problem}</p>`}
<form method="post" action="${actionOf(uid, "login")}">
<div class="field"><label for="email">Mail address</label>
<input id="email" name="email" type="email" autocomplete="username" required value="${email}"></div>
<div class="field"><label for="password">Password</label>
<input id="password" name="password" type="password" autocomplete="current-password" required></div>
<button type="submit">Log in</button>
</form>
<form method="post" action="${actionOf(uid, "abort")}"><button class="second" type="submit">Cancel</button></form>`;
}

function consentPage(uid: string, name: string, redirectUri: string): Part {
  return html`<p><strong><bdi>${name}</bdi></strong> asks to act for you in this registry: to search agents, to ask for crawls, and to
see what your organization may see. It also learns your name and mail address.</p>
<dl><dt>You will be sent to</dt><dd><code>${redirectUri}</code></dd></dl>
<p>Anybody can register an application under any name. Allow it only if you began this yourself, there.</p>
<form method="post" action="${actionOf(uid, "confirm")}"><button type="submit">Allow</button></form>
<form method="post" action="${actionOf(uid, "abort")}"><button class="second" type="submit">Refuse</button></form>`;
}

/** Everything the application asks for that this server gives. */
async function grantFor({ provider }: Issuer, details: Interaction): Promise<string> {
  const { grantId, params, session, prompt } = details;
  const found = grantId === undefined ? undefined : await provider.Grant.find(grantId);
  const grant = found ?? new provider.Grant({ accountId: session!.accountId, clientId: params.client_id as string });
  const missing = prompt.details as {
    missingOIDCScope?: string[];
    missingOIDCClaims?: string[];
    missingResourceScopes?: Record<string, string[]>;
  };
  if (missing.missingOIDCScope) grant.addOIDCScope(missing.missingOIDCScope.join(" "));
  if (missing.missingOIDCClaims) grant.addOIDCClaims(missing.missingOIDCClaims);
  for (const [resource, scopes] of Object.entries(missing.missingResourceScopes ?? {}))
    grant.addResourceScope(resource, scopes.join(" "));
  return grant.save();
}

const text = (body: Record<string, unknown> | undefined, name: string): string => {
  const value = body?.[name];
  return typeof value === "string" && !value.includes("\0") ? value : "";
};

/** Adds the pages of the embedded issuer, and hands everything else under `/oauth/` to it. */
export function addLogin(app: FastifyInstance, options: LoginOptions): void {
  // Forms are read here and nowhere else: the API takes JSON.
  app.register(async (scope) => {
    await scope.register(formbody);
    addPages(scope, options);
  });
  app.register(async (scope) => addProvider(scope, options));
}

const show = (reply: FastifyReply, title: string, body: Part, redirectUri: unknown, status = 200) =>
  reply
    .code(status)
    .headers(pageHeaders([formTarget(String(redirectUri))]))
    .send(page({ title, body }).text);

/** Undefined when there is nothing to go on with; the browser has been told. */
const detailsIn = async (
  { provider, hasEnded }: Issuer,
  request: UidRequest,
  reply: FastifyReply,
): Promise<Interaction | undefined> => {
  try {
    const details = await provider.interactionDetails(request.raw, reply.raw);
    if (details.uid === request.params.uid) return details;
  } catch (error) {
    if (!hasEnded(error)) throw error;
  }
  show(
    reply,
    "This log-in has ended",
    html`<p>It took too long, or was finished. Begin again in your application.</p>`,
    "",
    400,
  );
  return undefined;
};

const finishIn = async ({ provider }: Issuer, request: UidRequest, reply: FastifyReply, result: InteractionResults) =>
  reply.redirect(
    await provider.interactionResult(request.raw, reply.raw, result, { mergeWithLastSubmission: true }),
    303,
  );

function addPages(app: FastifyInstance, { issuer, access, limits, attempt }: LoginOptions): void {
  const { provider } = issuer;
  const detailsOf = (request: UidRequest, reply: FastifyReply) => detailsIn(issuer, request, reply);
  const finish = (request: UidRequest, reply: FastifyReply, result: InteractionResults) =>
    finishIn(issuer, request, reply, result);
  const config = { rateLimit: limitOf("documents", limits, "address"), bucket: "documents" };
  const guarded = { rateLimit: limitOf("login", limits, "address"), bucket: "login" };

  app.get(`${issuerPaths.interaction}/:uid`, { config }, async (request: UidRequest, reply) => {
    const details = await detailsOf(request, reply);
    if (details === undefined) return reply;
    const { uid, prompt, params } = details;
    if (prompt.name === "login") return show(reply, "Log in", loginPage(uid, undefined, ""), params.redirect_uri);
    const client = await provider.Client.find(String(params.client_id));
    return show(
      reply,
      "Allow access?",
      consentPage(uid, clientName(client), String(params.redirect_uri)),
      params.redirect_uri,
    );
  });

  app.post(`${issuerPaths.interaction}/:uid/login`, { config: guarded }, async (request: UidRequest, reply) => {
    const details = await detailsOf(request, reply);
    if (details === undefined) return reply;
    const email = text(request.body, "email").trim().toLowerCase();
    const user = await attempt(email).then(() => access.users.byEmail(email));
    const matches = await passwordMatches(text(request.body, "password"), user?.password);
    if (!matches || user === undefined || user.suspended !== 0) {
      // One text for every reason: who has an account here is nobody's business.
      const body = loginPage(details.uid, "The mail address or the password is not right.", email);
      return show(reply, "Log in", body, details.params.redirect_uri, 400);
    }
    return finish(request, reply, { login: { accountId: user.id, amr: ["pwd"] } });
  });

  app.post(`${issuerPaths.interaction}/:uid/confirm`, { config }, async (request: UidRequest, reply) => {
    const details = await detailsOf(request, reply);
    if (details === undefined) return reply;
    if (details.session === undefined || details.prompt.name !== "consent") return finish(request, reply, {});
    return finish(request, reply, { consent: { grantId: await grantFor(issuer, details) } });
  });

  app.post(`${issuerPaths.interaction}/:uid/abort`, { config }, async (request: UidRequest, reply) => {
    const details = await detailsOf(request, reply);
    if (details === undefined) return reply;
    return finish(request, reply, { error: "access_denied", error_description: "The user declined" });
  });
}

function addProvider(scope: FastifyInstance, { issuer, limits }: LoginOptions): void {
  // The provider reads bodies itself.
  scope.removeAllContentTypeParsers();
  scope.addContentTypeParser("*", (_request, _payload, done) => done(null));
  const pass = async (request: FastifyRequest, reply: FastifyReply) => {
    reply.hijack();
    issuer.handle(request.raw, reply.raw);
  };
  const config = { rateLimit: limitOf("documents", limits, "address"), bucket: "documents" };
  const clients = { rateLimit: limitOf("clients", limits, "address"), bucket: "clients" };
  scope.post(issuerPaths.registration, { config: clients }, pass);
  scope.all("/oauth/*", { config }, pass);
  scope.get("/.well-known/openid-configuration", { config }, pass);
}
