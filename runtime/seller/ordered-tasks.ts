/** Ids of tasks that tests order: asked of a call by the library's test controller, and no part of what handlers are given. */

const FREE = Symbol("makes a task's id free");

type FreesTaskId = (taskId: string, ordered: boolean) => Promise<boolean>;

/** The part of a call's context that `freeTaskId` asks. */
export const freesTaskIds = (free: FreesTaskId): object => ({ [FREE]: free });

/**
 * Makes an id free for a task that a test orders under it: in development, the caller's earlier task goes, with its webhooks.
 * Work that nobody called for takes none.
 * @param ordered whether a test has ordered that one too; else it stays
 * @returns whether a task may have the id now
 */
export const freeTaskId = async (context: object, taskId: string, ordered: boolean): Promise<boolean> =>
  (await (context as { readonly [FREE]?: FreesTaskId })[FREE]?.(taskId, ordered)) ?? true;
