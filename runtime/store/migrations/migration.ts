/** One step of the schema. Steps are never edited once released: their text is remembered and compared at start. */
export interface Migration {
  /** 1, 2, 3 ... without gaps. */
  readonly version: number;
  readonly name: string;
  readonly sqlite: string;
  readonly postgres: string;
}
