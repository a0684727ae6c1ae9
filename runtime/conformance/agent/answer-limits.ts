/** How large an answer may be, and how deep: an agent under test decides neither, and what goes beyond is a finding. */
import { failedAnswer } from "./failed-answer.js";
import type { AgentAnswer } from "./types.js";

/** Bytes of one answer that are read, 16 MiB: four times what buyers of ours take, and nothing that fills a machine. */
export const MAX_ANSWER_BYTES = 16 * 1024 * 1024;
/** Levels of objects and lists in an answer: far more than any schema has, and few enough for whatever walks them. */
const MAX_ANSWER_LEVELS = 500;

/**
 * An answer that ends with an error where it has more bytes than are read, compressed ones counted as they come out.
 * @param signal ends it, too
 * @param refused told why: a client that reads a stream of events tells nobody why that ended
 */
export function withinBytes(
  response: Response,
  signal: AbortSignal,
  refused: (why: Error) => void = () => undefined,
): Response {
  if (response.body === null) return response;
  let size = 0;
  const counted = response.body.pipeThrough(
    new TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, controller) {
        size += chunk.byteLength;
        if (size <= MAX_ANSWER_BYTES) return controller.enqueue(chunk);
        const mebibytes = MAX_ANSWER_BYTES / 1024 / 1024;
        const why = new Error(`the answer has more than ${mebibytes} MiB: no more of it was read`);
        refused(why);
        throw why;
      },
    }),
    { signal },
  );
  const { status, ok, statusText, headers } = response;
  // Set, not given: an agent may answer a number that no Response can be made with.
  return Object.defineProperties(new Response(counted, { headers }), {
    status: { value: status },
    ok: { value: ok },
    statusText: { value: statusText },
  });
}

/** Whether a value has more levels than are looked at. Walks no stack of its own. */
function isTooDeep(value: unknown): boolean {
  let level = [value];
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > MAX_ANSWER_LEVELS) return true;
    level = level.flatMap((one) => (typeof one === "object" && one !== null ? Object.values(one) : []));
  }
  return false;
}

/** The answer, or that it is nested too deeply to be read: every check of it would end the run. */
export function withinLevels(answer: AgentAnswer): AgentAnswer {
  const { request, payload, body, status, headers, sentAt, tookMs, error } = answer;
  if (![payload, body, error?.data].some(isTooDeep)) return answer;
  const message = `the answer has more than ${MAX_ANSWER_LEVELS} levels of objects and lists: it was not read`;
  return failedAnswer(request, { message }, { ...(status !== undefined && { status }), headers }, { sentAt, tookMs });
}
