/** A precompiled validator (`--standalone`): a type guard that leaves its reasons on itself, as ajv's functions do. */
export interface StandaloneCheck<T> {
  (data: unknown): data is T;
  errors?: readonly { instancePath: string; keyword: string; message?: string; params: object }[] | null;
}
