/** Something done again and again, never twice at once. */
export interface Timer {
  start(): void;
  /** Waits for a run that is under way. */
  stop(): Promise<void>;
}

/** @param everyMs pause between two runs, in milliseconds */
export function startTimer(everyMs: number, run: () => Promise<void>, onFault: (error: unknown) => void): Timer {
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<void> | undefined;
  let stopped = true;
  const turn = (): void => {
    running = run()
      .catch(onFault)
      .then(() => {
        if (!stopped) timer = setTimeout(turn, everyMs);
      });
  };
  return {
    start() {
      if (!stopped) return;
      stopped = false;
      turn();
    },
    async stop() {
      stopped = true;
      clearTimeout(timer);
      await running;
    },
  };
}
