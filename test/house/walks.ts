/**
 * Faults of the walks through the house that no rule can see: where, what, and a pattern that is there as long as the
 * fault is. Mended, the pattern is gone, and the test asks for the entry's removal.
 */
import { subjects } from "./subjects.js";

export interface Walk {
  readonly file: string;
  readonly fault: string;
  /** Subject of the issue that will mend it. */
  readonly until: string;
  /** Matches the file's text while the fault is there. */
  readonly still: RegExp;
}

export const walks: readonly Walk[] = [
  {
    file: "runtime/sender/channels.ts",
    fault: "the fields of each event are a table of the sender's own; the receiver has another, and they differ",
    until: subjects.events,
    still: /const noticeFields: Record<NoticeKind/,
  },
  {
    file: "runtime/receiver/envelope.ts",
    fault:
      "the fields of each event are a table of the receiver's own, tied neither to the sender's nor to the release",
    until: subjects.events,
    still: /const required: Record<EventKind/,
  },
  {
    file: "runtime/sender/sender.ts",
    fault: "names of ordering keys are built again here, and the queue's table is read past its interface",
    until: subjects.queue,
    still: /`a2a:\$\{subject\}`|tables\.pendingJobs\(/,
  },
  {
    file: "runtime/receiver/receive.ts",
    fault: "a webhook enters store four times: for its registration here, then to accept, to run and to end it",
    until: subjects.receiver,
    still: /store\.registrations\.own\(/,
  },
  {
    file: "runtime/receiver/worker.ts",
    fault: "a second job engine beside the queue's worker: it too leases, waits its turn, renews and gives back",
    until: subjects.receiver,
    still: /export const createInboxWorker\b/,
  },
  {
    file: "runtime/receiver/dispatch.ts",
    fault: "a webhook enters extract a second time, after its envelope did",
    until: subjects.stranger,
    still: /from "\.\.\/extract\//,
  },
];

/** What is to be taken off the list, each as a line to act on. */
export const mended = (listed: readonly Walk[], textOf: (file: string) => string | undefined): string[] =>
  listed
    .filter(({ file, still }) => !still.test(textOf(file) ?? ""))
    .map(({ file, fault }) => `${file}: "${fault}" is mended, it seems: take it off the list in test/house/walks.ts`);
