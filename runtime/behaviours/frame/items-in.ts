/** A member of something that others wrote, where it is a list; else there is nothing in it. */
export const itemsIn = <T>(value: unknown): readonly T[] => (Array.isArray(value) ? (value as T[]) : []);
