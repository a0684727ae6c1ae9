/** oidc-provider's records in the store's tables, so that every instance sees every session, client and code. */
import { type Adapter, type AdapterConstructor, type AdapterPayload, errors, Provider } from "oidc-provider";
import type { IssuerRow, RegistryAccess } from "../../../store/index.js";

const payloadOf = (row: IssuerRow | undefined): AdapterPayload | undefined =>
  row === undefined
    ? undefined
    : { ...JSON.parse(row.payload), ...(row.consumed !== null && { consumed: Math.floor(row.consumed / 1000) }) };

/** Replaced at each use, by the next one; the provider says which, in the request that asks for it. */
const ROTATED = "RefreshToken";

/** Anybody may register applications: one by which nobody has logged in is kept for so long, in milliseconds. */
const UNUSED_CLIENT_MS = 86_400_000;

const used = (): Error => new errors.InvalidGrant("already used");

/** @param now clock in unix milliseconds */
export const issuerAdapter = (access: RegistryAccess, now: () => number): AdapterConstructor =>
  class implements Adapter {
    constructor(readonly model: string) {}

    async upsert(id: string, payload: AdapterPayload, expiresIn?: number): Promise<void> {
      const record = {
        model: this.model,
        id,
        payload: JSON.stringify(payload),
        grantId: payload.grantId ?? null,
        uid: payload.uid ?? null,
        expires: expiresIn ? now() + expiresIn * 1000 : this.model === "Client" ? now() + UNUSED_CLIENT_MS : null,
      };
      // Somebody with an account lets it act for him.
      if (this.model === "Grant" && payload.clientId !== undefined)
        await access.issuer.keep("Client", payload.clientId);
      const before = this.model === ROTATED ? Provider.ctx?.oidc.entities.RotatedRefreshToken?.jti : undefined;
      if (before === undefined) return access.issuer.put(record);
      if (!(await access.issuer.replace(before, record, now()))) throw used();
    }

    async find(id: string): Promise<AdapterPayload | undefined> {
      // Clients' own words: no id of ours has this character, and PostgreSQL takes no text with it.
      if (id.includes("\0")) return undefined;
      return payloadOf(await access.issuer.get(this.model, id, now()));
    }

    async findByUid(uid: string): Promise<AdapterPayload | undefined> {
      return payloadOf(await access.issuer.byUid(this.model, uid, now()));
    }

    /** The device flow alone has user codes, and it is off. */
    async findByUserCode(): Promise<undefined> {
      return undefined;
    }

    async consume(id: string): Promise<void> {
      // With the one that replaces it, or not at all: who is given none comes again with this one, and used up it would be
      // taken for a stolen one, which ends the log-in.
      if (this.model === ROTATED) return;
      // Two instances may have read the code before either used it up: only one of them may go on.
      if (!(await access.issuer.consume(this.model, id, now()))) throw used();
    }

    async destroy(id: string): Promise<void> {
      await access.issuer.remove(this.model, id);
    }

    async revokeByGrantId(grantId: string): Promise<void> {
      await access.issuer.removeGrant(grantId);
    }
  };
