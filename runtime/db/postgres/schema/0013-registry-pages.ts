/** How a publisher's properties changed last. */
export const registryPages = `
-- last_change says as JSON when the properties of the publisher's own file changed, how many, and the first names.
alter table adbind_registry_publishers add column last_change text;
`;
