/** Registrations of a receiver in several databases: each in its sender's, found by route in all. */
import { conflicts } from "../rows.js";
import type { Registration, Registrations, RouteBinding } from "../types.js";
import type { SetMember } from "./member.js";
import type { ReceiverPart, ReceiverRouter } from "./receiver-part.js";

/** Routes whose sender is remembered; it seldom changes, and what is remembered is only where to look first. */
const MEMORY_ENTRIES = 10_000;

export function splitRegistrations<Tx>(router: ReceiverRouter<Tx>): Registrations {
  const senders = new Map<string, string>();
  const remember = (binding: RouteBinding): RouteBinding => {
    if (senders.size >= MEMORY_ENTRIES) senders.clear();
    senders.set(binding.route, binding.sender);
    return binding;
  };
  const own = (sender: string, route: string): Promise<RouteBinding | undefined> =>
    router.look(sender, async ({ store }) => {
      const found = await store.registrations.binding(route);
      return found?.sender === sender ? found : undefined;
    });
  const binding = async (route: string): Promise<RouteBinding | undefined> => {
    const sender = senders.get(route);
    const found = (sender === undefined ? undefined : await own(sender, route)) ?? (await everywhere(router, route));
    if (found === undefined) senders.delete(route);
    return found && remember(found);
  };
  return {
    async add(registration, now) {
      const other = await binding(registration.route);
      if (other !== undefined && other.sender !== registration.sender) return { conflict: other };
      const result = await router.at(registration.sender, ({ store }) => store.registrations.add(registration, now));
      if ("conflict" in result) return result;
      // Another sender's may have been added meanwhile, in another database: whoever finds both takes his own back.
      const meanwhile = await others(router, registration);
      if (meanwhile === undefined) return result;
      await router.at(registration.sender, ({ store }) =>
        store.registrations.remove(registration.route, registration.operationId),
      );
      return { conflict: meanwhile };
    },
    binding,
    async find(route, operationId) {
      const found = await binding(route);
      return found && router.look(found.sender, async ({ store }) => store.registrations.find(route, operationId));
    },
    own: (of, operationId) => router.look(of.sender, ({ store }) => store.registrations.own(of, operationId)),
    async remove(route, operationId) {
      const found = await binding(route);
      if (found === undefined) return false;
      return router.at(found.sender, ({ store }) => store.registrations.remove(route, operationId));
    },
  };
}

/**
 * Asks all databases for a route; the first that has it answers for all. What is found where its sender is not, of a move that
 * is under way or over, says only whose it is.
 * @throws what a database said that is away, where no other has it: the route may be there
 */
async function everywhere<Tx>(router: ReceiverRouter<Tx>, route: string): Promise<RouteBinding | undefined> {
  const ask = async (member: SetMember<ReceiverPart<Tx>>): Promise<RouteBinding> => {
    const found = await member.use(({ store }) => store.registrations.binding(route));
    if (found === undefined) throw new NotThere();
    const there = await router.look(found.sender, async ({ store }) => {
      const own = await store.registrations.binding(route);
      return own?.sender === found.sender ? own : undefined;
    });
    if (there === undefined) throw new NotThere();
    return there;
  };
  try {
    return await Promise.any([...router.members.values()].map(ask));
  } catch (error) {
    const failed = (error as AggregateError).errors.find((one) => !(one instanceof NotThere));
    if (failed !== undefined) throw failed;
    return undefined;
  }
}

/** A database has no such route. */
class NotThere extends Error {}

/** What another sender has under the same route. */
async function others<Tx>(router: ReceiverRouter<Tx>, registration: Registration): Promise<RouteBinding | undefined> {
  const asked = await Promise.allSettled(
    [...router.members.values()].map((member) =>
      member.use(({ store }) => store.registrations.binding(registration.route)),
    ),
  );
  const found = asked.flatMap((one) => (one.status === "fulfilled" && one.value !== undefined ? [one.value] : []));
  return found.find((one) => one.sender !== registration.sender && conflicts(one, registration));
}
