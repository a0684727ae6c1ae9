/** Lists of domains and identifiers gone through, and read again. */
import { type ApiHandlers, type RegistryServerDependencies, within } from "../api-request.js";
import { notFound } from "../problems.js";

type Ids = "checkProperties" | "readPropertyCheck" | "checkIdentifiers" | "readIdentifierCheck";

/** What a check said does not change. */
const KEPT = { "cache-control": "public, max-age=3600" };

const gone = () => notFound("No such report, or it has expired");

export const checkingRoutes = ({ data }: RegistryServerDependencies): ApiHandlers<Ids> => ({
  async checkProperties({ body }) {
    return { body: await within(data.checkDomains(body.domains)) };
  },
  async readPropertyCheck({ params }) {
    const found = await within(data.propertyCheck(params.report_id));
    if (found === undefined) throw gone();
    return { body: found, headers: KEPT };
  },
  async checkIdentifiers({ body }) {
    return { body: await within(data.checkIdentifiers(body.identifiers)) };
  },
  async readIdentifierCheck({ params }) {
    const found = await within(data.identifierCheck(params.report_id));
    if (found === undefined) throw gone();
    return { body: found, headers: KEPT };
  },
});
