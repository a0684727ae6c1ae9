/** Channels that are not closed: who looks for whom to tell reads none of those that were removed, however many there are. */
export const openChannels = `
-- An expression, so that no planner takes the primary key for as good, which has the closed ones too.
create index adbind_channels_open on adbind_channels ((case when closed <> 2 then resource end), kind, principal)
  where closed <> 2;
`;
