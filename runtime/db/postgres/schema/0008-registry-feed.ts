/** In which order a registry's authorizations changed. */
export const registryFeed = `
-- One row a pair of publisher and agent, the latest of its changes: whoever reads all rows has all that stands, whenever it
-- was said. agent 0 is the publisher itself. types are all authorization types the pair ever had; gone rows are removed
-- after some months, and the clock says up to which change. position orders what one transaction changed.
-- brand_key is a brand's name in lower case, found by its beginning.
-- properties_declared is how many properties the publisher's file has where that is more than are kept.
create table adbind_registry_feed (
  publisher bigint not null,
  agent bigint not null,
  seq bigint not null,
  position bigint not null,
  types text not null,
  digest text not null,
  gone integer not null,
  first bigint not null,
  at bigint not null,
  primary key (publisher, agent)
) with (fillfactor = 80);
create unique index adbind_registry_feed_order on adbind_registry_feed (seq, position);
create index adbind_registry_feed_gone on adbind_registry_feed (at) where gone = 1;
alter table adbind_registry_clock add column feed_pruned bigint not null default 0;
alter table adbind_registry_publishers add column properties_declared bigint;
alter table adbind_registry_publishers add column brand_key text collate "C";
update adbind_registry_publishers set brand_key = lower(brand_name) where brand_outcome = 'present' and brand_name is not null;
create index adbind_registry_publishers_brand on adbind_registry_publishers (brand_key, domain) where brand_key is not null;
create index adbind_registry_publishers_branded on adbind_registry_publishers (domain) where brand_key is not null;
create index adbind_registry_publishers_valid on adbind_registry_publishers (domain) where valid = 1;
`;
