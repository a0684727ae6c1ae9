/** Documents of sellers. */
export const documents = `
-- The version of a row is never used twice: a document that was removed and put again is another one.
create table adbind_documents (
  position integer primary key autoincrement,
  collection text not null,
  owner text not null,
  id text not null,
  version integer not null,
  body text not null,
  unique (collection, owner, id)
);
create index adbind_documents_order on adbind_documents (collection, owner, position);
`;
