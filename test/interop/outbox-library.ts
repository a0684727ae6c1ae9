/** What the test asks of a library that runs transactions; apart from the libraries, which may not be installed. */
export interface Library {
  readonly name: string;
  /** Runs `work` in a transaction of the library's; undone when it throws. */
  transaction(work: (tx: object) => Promise<void>): Promise<void>;
  /** Writes into the application's table, within the transaction, by the library's own means. */
  write(tx: never, value: string): Promise<unknown>;
  /** What is no open transaction, though it looks like one. */
  mistakes(): Promise<readonly (readonly [what: string, tx: object])[]>;
  close(): Promise<unknown>;
}
