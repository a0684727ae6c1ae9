/** An official client, as it is asked to live a buyer's life. */
import { shortVersion, type TransportName } from "../../../runtime/contract/index.js";

/** The certificate has it, and no name service: the client's process takes it for this machine. */
export const HOST = "seller.example.net";

/** What a client is to live through. */
export interface Question {
  /** The endpoint of the transport. */
  readonly url: string;
  readonly protocol: TransportName;
  /** The line of releases that the client is told to speak; null leaves it what it does by itself. */
  readonly line: string | null;
  /** The newest release of the seller. */
  readonly release: string;
  readonly token: string | null;
  /** The agent's URL where it has an identity, to find its keys by. */
  readonly agent: string | null;
}

export interface Lived {
  /** What went wrong, by step. */
  readonly steps: Readonly<Record<string, string | null>>;
  /** Steps that met a fault of the client's, and went on by another of its ways. */
  readonly known: Readonly<Record<string, string>>;
}

export interface LifeClient {
  readonly name: string;
  /** Lines that it is told to speak before a seller of these; null is its own choice. */
  lines(versions: readonly string[]): readonly (string | null)[];
  live(question: Question): Promise<Lived>;
  close(): Promise<void>;
}

/** The lines that a seller speaks. */
export const linesOf = (versions: readonly string[]): string[] => versions.map(shortVersion);
