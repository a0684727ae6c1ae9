/** Streams of A2A: a task, then what becomes of it, until it is over, waits for its caller, or the stream has lasted long enough. */
import { setTimeout as sleep } from "node:timers/promises";
import { StreamResponse as StreamMessage, type StreamResponse, Task } from "@a2a-js/sdk";
import { isTerminal } from "../../contract/index.js";
import type { AgentTask, AnswererDependencies, Identity } from "../answerer.js";
import { a2aTask, type ShownTask } from "./task.js";

/** Longest stream, in milliseconds: five minutes. Tasks may take days; who wants more subscribes again, or asks. */
const LONGEST_MS = 300_000;
/** Between two looks at a task, in milliseconds: another process may be the one that changes it. */
const LOOK_MS = 500;
/** Streams open at a time; each costs a look at the store every half second. Further ones end with what is known now. */
const MOST_STREAMS = 256;
/** Of one caller, so that none takes all there are. */
const MOST_OF_CALLER = 16;

const event = (kind: "task" | "statusUpdate" | "artifactUpdate", value: unknown): StreamResponse =>
  StreamMessage.fromJSON({ [kind]: value });

const isQuiet = ({ status }: Pick<AgentTask, "status">): boolean => isTerminal(status) || status === "input-required";

/** What has changed, as events: the result before the end, since the end closes the stream. */
function* eventsOf(task: ShownTask): Generator<StreamResponse> {
  const shown = Task.toJSON(a2aTask(task)) as { artifacts?: unknown[]; status: unknown };
  const ids = { taskId: task.id, contextId: task.contextId };
  for (const artifact of shown.artifacts ?? []) yield event("artifactUpdate", { ...ids, artifact, lastChunk: true });
  yield event("statusUpdate", { ...ids, status: shown.status });
}

export interface Streams {
  /** @param first the task as it is now */
  follow(first: ShownTask, caller: Identity): AsyncGenerator<StreamResponse, void, undefined>;
}

export function createStreams({ tasks, closing, now }: AnswererDependencies): Streams {
  let open = 0;
  const openOf = new Map<string, number>();
  const count = (principal: string, by: 1 | -1): void => {
    open += by;
    const own = (openOf.get(principal) ?? 0) + by;
    if (own > 0) openOf.set(principal, own);
    else openOf.delete(principal);
  };
  return {
    async *follow(first, caller) {
      yield event("task", Task.toJSON(a2aTask(first)));
      const { principal } = caller;
      const full = open >= MOST_STREAMS || (openOf.get(principal) ?? 0) >= MOST_OF_CALLER;
      if (isQuiet(first) || full) return;
      const until = now() + LONGEST_MS;
      let seen = first.updatedAt;
      count(principal, 1);
      try {
        while (now() < until) {
          await sleep(LOOK_MS, undefined, { signal: closing }).catch(() => undefined);
          if (closing.aborted) return;
          const task = await tasks.find(first.id, caller);
          if (task === undefined) return;
          if (task.updatedAt === seen) continue;
          seen = task.updatedAt;
          yield* eventsOf(task);
          if (isQuiet(task)) return;
        }
      } finally {
        count(principal, -1);
      }
    },
  };
}

/** Events as a body: one of `text/event-stream` each. */
export async function* eventStream(first: unknown, rest: AsyncGenerator<unknown>): AsyncGenerator<string> {
  try {
    yield line(first);
    for await (const one of rest) yield line(one);
  } finally {
    await rest.return(undefined);
  }
}

const line = (message: unknown): string => `data: ${JSON.stringify(message)}\n\n`;
