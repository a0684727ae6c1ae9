/** `get_media_buy_artifacts`: the content that a buy ran beside, for whoever holds it to standards. */
import type { AccountRef } from "../accounts/accounts.js";
import { buyOf } from "../buys/buys.js";
import type { Behaviour, ToolBehaviour } from "../frame/behaviour.js";
import { listPage, type PageWanted } from "../frame/page.js";
import type { ContentRecord } from "../ports/ad-server.js";

interface Wanted {
  readonly account?: AccountRef;
  readonly media_buy_id: string;
  readonly package_ids?: readonly string[];
  readonly failures_only?: boolean;
  readonly time_range?: { readonly start?: string; readonly end?: string };
  readonly pagination?: PageWanted;
}

/** Records of one page, and at most: there are many. */
const PAGE = { items: 1_000, most: 10_000 };

const mediaBuyArtifacts: ToolBehaviour = async (request: Wanted, call) => {
  const { account, media_buy_id, package_ids: packages, failures_only: failures = false, time_range: time } = request;
  const buy = await buyOf(call, media_buy_id, account);
  const range = { from: time?.start, before: time?.end };
  const kept = buy.booking === undefined ? undefined : await call.ports.adServer.content?.(buy.booking, range);
  const { deliveries, records } = kept ?? { deliveries: 0, records: [] };
  const wanted = ({ package_id, local_verdict }: ContentRecord): boolean =>
    (packages?.includes(package_id) ?? true) && (!failures || local_verdict === "fail");
  const { items, pagination } = listPage(
    records.filter(wanted),
    request.pagination,
    ({ record_id }) => record_id,
    PAGE,
  );
  return call.answer({
    media_buy_id,
    artifacts: items.map((one) => ({ ...one, local_verdict: one.local_verdict ?? "unevaluated" })),
    collection_info: {
      total_deliveries: deliveries,
      total_collected: records.length,
      returned_count: items.length,
      ...(deliveries > 0 && { effective_rate: records.length / deliveries }),
    },
    pagination,
  });
};

/** Content beside advertising, as it was kept. */
export const contentArtifactsBehaviour: Behaviour = {
  area: "content-artifacts",
  needs: ["accounts"],
  tools: { get_media_buy_artifacts: mediaBuyArtifacts },
};
