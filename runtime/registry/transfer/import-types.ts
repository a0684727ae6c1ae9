/** How an import is asked for, and what came of it. */
/** How far an import has come. */
export interface ImportProgress {
  /** Lines read so far, those of an earlier run among them. */
  readonly lines: number;
  readonly publishers: number;
  readonly properties: number;
  /** Agents whose profiles were computed; it happens at the end. */
  readonly profiles: number;
}

/** How an import is taken up again, and who is told of its progress. */
export interface ImportOptions {
  /** Names the import, so that it can go on after a crash. Without one it begins anew each time. */
  readonly id?: string;
  /** Unix milliseconds; the system clock by default. */
  readonly now?: () => number;
  readonly progress?: (progress: ImportProgress) => void;
  /** Told of each line that cannot be taken, which is then left out. Without it the first one ends the import. */
  readonly invalid?: (line: number, why: string) => void;
}

/** What an import read, and what it could not use. */
export interface ImportResult extends ImportProgress {
  /** Lines that an earlier run had taken in. */
  readonly resumedAfter: number;
  /** The whole import had been done before; nothing was read. */
  readonly doneBefore: boolean;
  readonly members: number;
  readonly hosted: number;
  readonly claims: number;
  readonly invalid: number;
  /** Publishers whose owners want nothing told of them: their lines were left out. */
  readonly optedOut: number;
  /** Publishers that were crawled here since the export's registry did: what the crawl found stays, and only what no crawl finds was taken. */
  readonly outdated: number;
}
