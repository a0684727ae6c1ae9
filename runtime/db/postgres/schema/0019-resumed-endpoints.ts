/** When an operator resumed an endpoint: what attempts teach of it that began before is not noted. */
export const resumedEndpoints = `
alter table adbind_endpoints add column resumed_at bigint;
`;
