/** The page that looks at a file. */
import formbody from "@fastify/formbody";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { examineGiven } from "../../crawl/index.js";
import { publisherDomain } from "../../model.js";
import { linesOfPointers, SERVED_CHARACTERS } from "../../pointer-lines.js";
import { type RegistryServerDependencies, within } from "../api-request.js";
import { type Limits, limitOf } from "../limits.js";
import { answerPage, pagePaths } from "../pages/answer-page.js";
import { type CheckedFile, type CheckForm, checkPage } from "../pages/check.js";

/** A publisher's origin may take its time: two fetches and their redirects, in milliseconds. */
const INSPECT_MS = 30_000;

type Fields = Record<string, string | undefined>;

const formOf = ({ domain = "", file = "" }: Fields): CheckForm => ({
  domain: String(domain).trim(),
  file: String(file),
});

const send = (request: FastifyRequest, reply: FastifyReply, form: CheckForm, file?: CheckedFile): FastifyReply =>
  answerPage(request, reply, {
    view: { title: "Is the file all right?", body: checkPage(form, file), current: "check" },
    json:
      file === undefined
        ? { error: form.problem ?? "Give a domain; the file is posted as the field file, or fetched." }
        : { ...file, lines: Object.fromEntries(file.lines) },
    status: form.problem === undefined ? 200 : 400,
  });

/** What the registry would make of a text at a domain. */
export function pastedFile(domain: string, text: string, now: number): CheckedFile {
  const { verdict, ...found } = examineGiven(Buffer.from(text), domain, now);
  const pointers = found.problems.map(({ pointer }) => pointer);
  return { ...found, valid: verdict === "valid", lines: linesOfPointers(text, pointers, SERVED_CHARACTERS) };
}

/** Undefined where nothing may be fetched. */
async function fetched({ crawler }: RegistryServerDependencies, domain: string): Promise<CheckedFile | undefined> {
  const found = await within(crawler!.inspect(domain), INSPECT_MS);
  if (found === undefined) return undefined;
  const valid = found.outcome === "valid";
  const { problems, file, resolvedUrl: url } = found;
  return {
    domain,
    valid,
    error: valid ? null : (problems[0]?.message ?? "there is no valid file"),
    url,
    agents: file?.agents.length ?? 0,
    properties: file?.properties.length ?? 0,
    problems,
    lines: new Map(),
  };
}

async function answer(
  dependencies: RegistryServerDependencies,
  request: FastifyRequest,
  reply: FastifyReply,
  form: CheckForm,
): Promise<FastifyReply> {
  const domain = publisherDomain(form.domain);
  const refuse = (problem: string): FastifyReply => send(request, reply, { ...form, problem });
  if (domain === undefined) return refuse("This is no domain. Give at least two parts, such as news.example.");
  if (form.file.trim() !== "") return send(request, reply, form, pastedFile(domain, form.file, dependencies.now()));
  if (dependencies.crawler === undefined) return refuse("This server fetches nothing: paste the file.");
  const found = await fetched(dependencies, domain);
  return found === undefined ? refuse("Nothing may be fetched of this domain.") : send(request, reply, form, found);
}

export function addCheckPage(app: FastifyInstance, dependencies: RegistryServerDependencies, limits: Limits): void {
  const looks = { config: { rateLimit: limitOf("inspections", limits), bucket: "inspections" } };
  app.register(async (scope) => {
    await scope.register(formbody);
    for (const path of pagePaths("/check")) {
      scope.get<{ Querystring: Fields }>(path, looks, async (request, reply) =>
        request.query.domain === undefined
          ? send(request, reply, formOf({}))
          : answer(dependencies, request, reply, formOf({ domain: String(request.query.domain) })),
      );
      scope.post<{ Body: Fields | undefined }>(path, looks, async (request, reply) =>
        answer(dependencies, request, reply, formOf(request.body ?? {})),
      );
    }
  });
}
