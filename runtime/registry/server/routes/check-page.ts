/** The page that looks at a file. */
import formbody from "@fastify/formbody";
import type { FastifyInstance, FastifyReply } from "fastify";
import { examineGiven } from "../../crawl/index.js";
import { publisherDomain } from "../../model.js";
import { linesOfPointers, SERVED_CHARACTERS } from "../../pointer-lines.js";
import { type Parts, within } from "../call.js";
import { type Limits, limitOf } from "../limits.js";
import { type CheckedFile, type CheckForm, checkPage } from "../pages/check.js";
import { page, pageHeaders } from "../pages/layout.js";

/** A publisher's origin may take its time: two fetches and their redirects, in milliseconds. */
const INSPECT_MS = 30_000;

type Fields = Record<string, string | undefined>;

const formOf = ({ domain = "", file = "" }: Fields): CheckForm => ({
  domain: String(domain).trim(),
  file: String(file),
});

const send = (reply: FastifyReply, form: CheckForm, file?: CheckedFile): FastifyReply => {
  const view = { title: "Is the file all right?", body: checkPage(form, file), current: "publisher" } as const;
  return reply
    .code(form.problem === undefined ? 200 : 400)
    .headers(pageHeaders())
    .send(page(view).text);
};

function pasted(domain: string, text: string, now: number): CheckedFile {
  const { verdict, ...found } = examineGiven(Buffer.from(text), domain, now);
  const pointers = found.problems.map(({ pointer }) => pointer);
  return { ...found, valid: verdict === "valid", lines: linesOfPointers(text, pointers, SERVED_CHARACTERS) };
}

/** Undefined where nothing may be fetched. */
async function fetched({ crawler }: Parts, domain: string): Promise<CheckedFile | undefined> {
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

async function answer(parts: Parts, reply: FastifyReply, form: CheckForm): Promise<FastifyReply> {
  const domain = publisherDomain(form.domain);
  const refuse = (problem: string): FastifyReply => send(reply, { ...form, problem });
  if (domain === undefined) return refuse("This is no domain. Give at least two parts, such as news.example.");
  if (form.file.trim() !== "") return send(reply, form, pasted(domain, form.file, parts.now()));
  if (parts.crawler === undefined) return refuse("This server fetches nothing: paste the file.");
  const found = await fetched(parts, domain);
  return found === undefined ? refuse("Nothing may be fetched of this domain.") : send(reply, form, found);
}

export function addCheckPage(app: FastifyInstance, parts: Parts, limits: Limits): void {
  const looks = { config: { rateLimit: limitOf("inspections", limits), bucket: "inspections" } };
  app.register(async (scope) => {
    await scope.register(formbody);
    scope.get<{ Querystring: Fields }>("/check", looks, async ({ query }, reply) =>
      query.domain === undefined
        ? send(reply, formOf({}))
        : answer(parts, reply, formOf({ domain: String(query.domain) })),
    );
    scope.post<{ Body: Fields | undefined }>("/check", looks, async ({ body }, reply) =>
      answer(parts, reply, formOf(body ?? {})),
    );
  });
}
