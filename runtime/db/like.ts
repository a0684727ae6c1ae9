/** A part of a pattern of `like` with `!` as its escape: a backslash in a string means one thing or another by a setting of the server. */
export const likePart = (text: string): string => text.replaceAll(/[!%_]/g, "!$&");
