/** Creatives where packages have them already: named before they were sent, or sent again as something else. */
import type { ProtocolError } from "../../contract/index.js";
import { type BuyPackage, buyIsOver, isLivePackage } from "../buys/buys.js";
import { buysNaming } from "../buys/naming.js";
import type { BehaviourCall } from "../frame/call.js";
import { type Creative, findCreative } from "../library/creatives.js";
import { type Shown, unsuitable } from "../library/suitable.js";
import type { CreativeAsset, CreativeUpload } from "../ports/creatives.js";
import { findProduct } from "../products/products.js";

/** An upload, and whose it is. */
export interface PlacedUpload {
  readonly accountId: string;
  readonly upload: CreativeUpload;
  readonly field: string;
  /** Packages that come with the same request, or are changed by it, as they are kept after it. */
  readonly packages?: readonly BuyPackage[];
  /** The media buy whose packages those are: what is kept of it does not count any more. */
  readonly mediaBuyId?: string;
}

/** The account's live packages that name a creative; those of one media buy may be left out. */
async function placesOf(
  call: BehaviourCall,
  accountId: string,
  { id, besides }: { readonly id: string; readonly besides: string | undefined },
): Promise<BuyPackage[]> {
  const buys = (await buysNaming(call, id)).filter(
    (buy) => buy.account_id === accountId && buy.media_buy_id !== besides && !buyIsOver(call, buy),
  );
  return buys.flatMap(({ packages }) =>
    packages.filter((one) => isLivePackage(one) && one.creative_assignments.some((named) => named.creative_id === id)),
  );
}

/** What decides where a creative can run: another title, or another place of its files, moves it nowhere. */
const shapeOf = ({ format_id, format_kind, format_option_ref, assets }: Shown): string =>
  JSON.stringify([
    ...[format_id, format_kind, format_option_ref],
    Object.entries(assets).map(([slot, value]) => [
      slot,
      ...([value].flat() as CreativeAsset[]).map((one) => [
        ...[one.asset_type, one.url_type, one.width, one.height, one.pixel_ratio, one.duration_ms],
      ]),
    ]),
  ]);

/**
 * Whether it stays what it was when its packages took it. No buy is read for that, and a product that takes other formats by now refuses
 * nobody what runs there. Who names what was put away is not asked what it is.
 */
const staysAsTaken = (before: Creative | undefined, upload: CreativeUpload): boolean =>
  before !== undefined &&
  before.status !== "archived" &&
  before.purge === undefined &&
  shapeOf({ ...before.more, ...before }) === shapeOf(upload);

/**
 * A banner that is sent under the name of a spot would run where spots are sold, or nowhere: it is refused, and what was there
 * stays.
 */
export async function placeProblems(
  call: BehaviourCall,
  { accountId, upload, field, packages = [], mediaBuyId }: PlacedUpload,
): Promise<ProtocolError[]> {
  const { creative_id: id } = upload;
  if (staysAsTaken(await findCreative(call, id), upload)) return [];
  const beside = packages.filter((one) => one.creative_assignments.some(({ creative_id }) => creative_id === id));
  for (const one of [...beside, ...(await placesOf(call, accountId, { id, besides: mediaBuyId }))]) {
    const product = await findProduct(call, one.product_id);
    const against = product && (await unsuitable(call, product, upload, one.terms));
    if (against === undefined) continue;
    const message = `package ${one.package_id} has it: ${against.message}`;
    return [{ code: against.code, message, field, recovery: "correctable" }];
  }
  return [];
}
