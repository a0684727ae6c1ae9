/** What others wrote, for a terminal: letters of every script, and nothing that steers it or cannot be seen. */

/** Controls, marks of direction, separators of lines; what Unicode says is not shown, and two signs that have no ink all the same. */
const hidden = String.raw`[\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u{2800}\u{1d159}]`;

/** Signs that are not shown and that writing needs, each behind what it changes, and one of a kind. */
const needed = [
  // The joiners: of emoji, and of scripts whose letters join; none of these does.
  String.raw`(?<=(?![\p{sc=Latin}\p{sc=Greek}\p{sc=Cyrillic}\p{sc=Han}\p{sc=Hangul}])[\p{L}\p{M}])[\u{200c}\u{200d}]`,
  String.raw`(?<=[\p{Extended_Pictographic}\p{Emoji_Modifier}]\u{fe0f}?)\u{200d}`,
  // As text or as a picture; keycaps.
  String.raw`(?<=[\p{Extended_Pictographic}0-9#*])[\u{fe0e}\u{fe0f}]`,
  // Variants of ideographs and of Mongolian letters.
  String.raw`(?<=\p{Ideographic})[\u{fe00}-\u{fe02}\u{e0100}-\u{e01ef}]`,
  String.raw`(?<=\p{sc=Mongolian})[\u{180b}-\u{180d}\u{180f}]`,
];

const unseen = new RegExp(`(?!${needed.join("|")})${hidden}`, "gu");

/** Text that somebody else wrote with a question mark for all that would drive a terminal, turn a line's order round or hide in it. */
export const printable = (text: string): string => text.replace(unseen, "?");
