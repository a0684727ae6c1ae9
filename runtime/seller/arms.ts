/** What a handler gives for an arm of its tool. */
import type { ArmsOf, TaskStatus } from "../contract/index.js";

/** The reply of one arm; never where the tool has no such arm. */
export type ArmReply<T, S extends TaskStatus> = S extends keyof ArmsOf<T> ? { status: S; data: ArmsOf<T>[S] } : never;

/** An arm's data without what the seller fills in itself. */
export type ArmData<T, S extends TaskStatus> = S extends keyof ArmsOf<T>
  ? Loose<ArmsOf<T>[S], "status" | "task_id" | "context">
  : never;

/** The tool's response. What says `submitted` or only errors has arms of its own. */
export type Completed<T> = ArmsOf<T> extends { completed: infer D } ? Loose<Final<D>, "status" | "context"> : never;

type Final<D> = D extends { status: "submitted" } ? never : D;

/** Some members may be left out; each member of a union keeps its own shape. */
type Loose<D, Keys extends string> = D extends object
  ? { [K in keyof D as K extends Keys ? K : never]?: D[K] } & { [K in keyof D as K extends Keys ? never : K]: D[K] }
  : D;

/** No arguments can be given for an arm the tool does not have. */
export type IfArm<T, S extends TaskStatus, Args extends unknown[]> = S extends keyof ArmsOf<T> ? Args : [never];
