/** A publisher's properties are read in the order of its file, some at a time. */
export const propertyPlaces = `
create index adbind_registry_properties_places on adbind_registry_properties (publisher, source, position);
`;
