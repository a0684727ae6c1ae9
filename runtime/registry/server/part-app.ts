/**
 * A process that holds one part of the search's index, and answers the instances that ask it: no API, no pages, no crawls.
 * Whoever may send it the token reads every profile it has, of agents that only publishers' files name too; without the token
 * it says how it is, and no more.
 */
import { hash, timingSafeEqual } from "node:crypto";
import { type Tracer, trace } from "@opentelemetry/api";
import fastify, { type FastifyBaseLogger, type FastifyInstance, type FastifyRequest, LogController } from "fastify";
import { type Logger, pino } from "pino";
import { drainInTime } from "../../draining.js";
import { AdbindError } from "../../errors.js";
import { gatherBodies } from "../../gathering.js";
import { createPeriodic, type Periodic, tellLog } from "../../queue/periodic.js";
import type { AnyStore } from "../../store/index.js";
import type { AgentPart } from "../../store/registry-profiles.js";
import { type FollowedIndex, Mirror } from "../search/mirror.js";
import { type SearchPart, searchPart } from "../search/part.js";
import { PART_PATH, partName, QUESTION_BYTES, readPart, readQuestion } from "../search/part-wire.js";
import { checkedNumbers } from "./settings.js";
import { createTelemetry, observeRequests, type Telemetry } from "./telemetry.js";

/** How a part of a search's index is served. */
interface ServingOptions {
  /** Which part of how many it is, as `2/4`. */
  readonly part: string;
  /** The secret that it shares with those who ask: at least 16 printable characters. */
  readonly token: string;
  /** How long `/readyz` says no before connections are closed, in milliseconds. Default 0. */
  readonly drainMs?: number;
  readonly logger?: Logger;
  /** Gets a span per request. Default the application's own, which does nothing unless it set one up. */
  readonly tracer?: Tracer;
}

/** What a part of a search's index is made of. */
export interface RegistryPartOptions extends ServingOptions {
  /** Opened store, the one of the instances that ask; who opened it closes it. */
  readonly store: AnyStore;
}

/** A part of a search's index, served. */
export interface RegistryPart {
  /** Listens, and reads its index. @returns the address it listens on */
  listen(where: { readonly host?: string; readonly port: number }): Promise<string>;
  /** Says it is unready, waits for the drain time, lets requests end, closes. The store stays open. */
  stop(options?: { readonly drainMs?: number }): Promise<void>;
}

/** Brought up to date so often where nobody asks, in milliseconds. */
const FOLLOW_MS = 1_000;
/** Longest a question may take to come in, in milliseconds. */
const REQUEST_MS = 10_000;
/** Shorter secrets are guessed. */
const TOKEN_CHARACTERS = 16;

const unusable = (what: string, where: string, remedy: string): AdbindError =>
  new AdbindError("registry_option_invalid", what, { where, remedy });

/** @throws AdbindError `registry_option_invalid` for one that is too short */
function checkedPartToken(token: string): string {
  if (token.length >= TOKEN_CHARACTERS && /^[\x21-\x7e]+$/.test(token)) return token;
  throw unusable(
    "the token of the search's parts cannot be used",
    `${token.length} characters`,
    `give ${TOKEN_CHARACTERS} printable characters or more, the same to every part and whoever asks them`,
  );
}

const digest = (text: string): Buffer => hash("sha256", text, "buffer");

/** Whether a request bears the token; how long it takes to say no tells nothing of it. */
function knower(token: string): (request: FastifyRequest) => boolean {
  const expected = digest(`Bearer ${token}`);
  return ({ headers }) => timingSafeEqual(digest(headers.authorization ?? ""), expected);
}

interface Serving {
  readonly part: SearchPart;
  readonly name: string;
  readonly telemetry: Telemetry;
  readonly state: { stopping: boolean };
}

/** Statuses of what is no answer; who asks reads the code. */
const statuses = { refused: 409, loading: 503, behind: 503 } as const;

function addRoutes(app: FastifyInstance, { part, name, telemetry, state }: Serving, token: string): void {
  const knows = knower(token);
  app.post(PART_PATH, {
    onRequest: async (request, reply) => {
      if (!knows(request)) return reply.code(401).send({ error: "the token is not the one of this part" });
    },
    handler: async (request, reply) => {
      const question = readQuestion(request.body);
      if (question === undefined) return reply.code(400).send({ error: "that is no question to a part" });
      const answer = await part.answer(question);
      if (answer.ok) return reply.type("application/json").send(JSON.stringify(answer.value));
      return reply.code(statuses[answer.why]).send({ error: answer.detail, code: `part_${answer.why}` });
    },
  });
  app.get("/healthz", async () => ({ status: "ok" }));
  app.get("/readyz", async (_request, reply) => {
    const checks = { search: part.loaded ? "ok" : "reads its index", server: state.stopping ? "stopping" : "ok" };
    const ready = part.loaded && !state.stopping;
    reply.code(ready ? 200 : 503);
    return { status: ready ? "ready" : "unready", checks, part: name, ...part.state };
  });
  app.get("/metrics", async (_request, reply) =>
    reply.type("text/plain; version=0.0.4; charset=utf-8").send(await telemetry.read()),
  );
}

/** How far a part is, and how much it holds. */
function observePart({ meter }: Telemetry, part: SearchPart): void {
  meter
    .createObservableGauge("registry.search_part_change", {
      description: "number of the change a part of the search index has got to",
    })
    .addCallback((result) => result.observe(part.state.change));
  meter
    .createObservableGauge("registry.search_part_agents", { description: "agents in a part of the search index" })
    .addCallback((result) => result.observe(part.state.agents));
}

/** Brings the part up to date where nobody asks. */
const followingOf = (part: SearchPart, log: Logger): Periodic =>
  createPeriodic({
    pauseMs: FOLLOW_MS,
    steps: [
      {
        name: "follow the registry's changes",
        meanwhile: "answers of this part wait for it, or go without it",
        run: (stopping) =>
          part.follow(stopping).catch((error: Error) => {
            if (!stopping.aborted) throw error;
          }),
      },
    ],
    telling: tellLog(log),
  });

function partOrThrow(text: string): AgentPart {
  const own = readPart(text);
  if (own !== undefined) return own;
  throw unusable("there is no such part of a search's index", text, "give which of how many, 64 at most: 2/4");
}

/**
 * Serves what answers as a part of a search's index.
 * @throws AdbindError `registry_option_invalid` for a part that is none, and a token that is too short
 */
export async function servePart(followed: FollowedIndex, options: ServingOptions): Promise<RegistryPart> {
  const own = partOrThrow(options.part);
  const token = checkedPartToken(options.token);
  const { drainMs } = checkedNumbers(options);
  const log = options.logger ?? pino({ name: "adbind-registry-part", level: "warn" });
  const telemetry = createTelemetry();
  const part = searchPart(followed, own);
  const state = { stopping: false };
  const app: FastifyInstance = fastify({
    loggerInstance: log as FastifyBaseLogger,
    logController: new LogController({ disableRequestLogging: true }),
    bodyLimit: QUESTION_BYTES,
    requestTimeout: REQUEST_MS,
    return503OnClosing: false,
    forceCloseConnections: "idle",
  });
  drainInTime(app);
  gatherBodies(app);
  observeRequests(app, telemetry, options.tracer ?? trace.getTracer("adbind.registry"));
  observePart(telemetry, part);
  addRoutes(app, { part, name: partName(own), telemetry, state }, token);
  await app.ready();
  const following = followingOf(part, log);
  let stopped: Promise<void> | undefined;
  const stop = async (waitMs: number): Promise<void> => {
    state.stopping = true;
    if (waitMs > 0) await new Promise((resolve) => setTimeout(resolve, waitMs));
    await app.close();
    await following.stop();
    await telemetry.stop();
  };
  return {
    async listen({ host = "127.0.0.1", port }) {
      const address = await app.listen({ host, port });
      following.start();
      return address;
    },
    stop: (given) => (stopped ??= stop(given?.drainMs ?? drainMs)),
  };
}

/**
 * Makes a part of a search's index on an opened store.
 * @throws AdbindError `registry_option_invalid` for a part that is none, and a token that is too short
 */
export const createRegistryPart = async ({ store, ...options }: RegistryPartOptions): Promise<RegistryPart> =>
  servePart(new Mirror(store.database, partOrThrow(options.part)), options);
