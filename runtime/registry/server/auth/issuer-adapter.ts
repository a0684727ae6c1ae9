/** oidc-provider's records in the store's tables, so that every instance sees every session, client and code. */
import { type Adapter, type AdapterConstructor, type AdapterPayload, errors } from "oidc-provider";
import type { IssuerRow, RegistryAccess } from "../../../store/index.js";

const payloadOf = (row: IssuerRow | undefined): AdapterPayload | undefined =>
  row === undefined
    ? undefined
    : { ...JSON.parse(row.payload), ...(row.consumed !== null && { consumed: Math.floor(row.consumed / 1000) }) };

/** @param now clock in unix milliseconds */
export const issuerAdapter = (access: RegistryAccess, now: () => number): AdapterConstructor =>
  class implements Adapter {
    constructor(readonly model: string) {}

    async upsert(id: string, payload: AdapterPayload, expiresIn?: number): Promise<void> {
      await access.issuer.put({
        model: this.model,
        id,
        payload: JSON.stringify(payload),
        grantId: payload.grantId ?? null,
        uid: payload.uid ?? null,
        expires: expiresIn ? now() + expiresIn * 1000 : null,
      });
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
      // Two instances may have read the code before either used it up: only one of them may go on.
      if (!(await access.issuer.consume(this.model, id, now()))) throw new errors.InvalidGrant("already used");
    }

    async destroy(id: string): Promise<void> {
      await access.issuer.remove(this.model, id);
    }

    async revokeByGrantId(grantId: string): Promise<void> {
      await access.issuer.removeGrant(grantId);
    }
  };
