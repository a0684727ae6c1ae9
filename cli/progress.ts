/** What a terminal shows of work that takes a while; a file, a pipe or a build server gets none of it. */
import { SingleBar } from "cli-progress";
import { type GenerateStep, steps } from "../generator/run.js";

/** A terminal that somebody looks at: build servers have terminals too, and set CI. */
export const isWatched = (): boolean => process.stderr.isTTY === true && !process.env.CI;

const doing: Readonly<Record<GenerateStep["step"], string>> = {
  read: "reading",
  check: "checking",
  model: "modelling",
  emit: "making bindings of",
  write: "writing",
};

/** Steps of one release; writing is one step for all. */
const EACH = steps.length - 1;

export interface Progress {
  readonly step: (step: GenerateStep) => void;
  /** A line that stays, above what moves. */
  readonly line: (text: string) => void;
  readonly stop: () => void;
}

/** One bar over all releases of a run. @param shown how a release is named to the user */
export function generateProgress(releases: number, shown: (source: string) => string): Progress {
  const bar = new SingleBar({
    format: "{bar} {percentage} %  {what}",
    stream: process.stderr,
    hideCursor: true,
    clearOnComplete: true,
  });
  const total = releases * EACH + 1;
  let begun = 0;
  let value = 0;
  const start = (what: string): void => bar.start(total, value, { what });
  start("");
  return {
    step({ step, source }) {
      if (step === "read") begun += 1;
      value = step === "write" ? total - 1 : (begun - 1) * EACH + steps.indexOf(step);
      bar.update(value, { what: source === "" ? doing[step] : `${doing[step]} ${shown(source)}` });
      // The work leaves no time for the bar's own timer.
      bar.render();
    },
    line(text) {
      bar.stop();
      console.error(text);
      start("");
    },
    stop: () => bar.stop(),
  };
}
