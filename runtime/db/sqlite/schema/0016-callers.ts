/** Whose calls are under which idempotency keys: a scope is a digest, and says nobody's name to who moves them. */
export const callers = `
alter table adbind_calls add column principal text;
`;
