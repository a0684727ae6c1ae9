/** Something done again and again, never twice at once. */
export interface Timer {
  start(): void;
  /** Waits for a run that is under way. */
  stop(): Promise<void>;
}

/**
 * @param pauseMs pause before the next run, in milliseconds; asked for after each, so that instances that began together
 * may drift apart
 * @param onFault told of what a run throws; the next one comes all the same
 */
export function createTimer(pauseMs: () => number, run: () => Promise<void>, onFault: (error: unknown) => void): Timer {
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<void> | undefined;
  let stopped = true;
  const turn = (): void => {
    running = run()
      .catch(onFault)
      .then(() => {
        if (!stopped) timer = setTimeout(turn, pauseMs());
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
