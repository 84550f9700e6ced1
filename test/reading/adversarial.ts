import { checked, type Proposal } from "./message.js";

/** Messages that have stopped patterns before, by length in characters. */
export const SHAPES: Readonly<Record<string, (length: number) => string>> = Object.fromEntries(
  [
    ...[
      "a",
      " ",
      "\n",
      '"',
      "'",
      "`",
      "“",
      "„",
      "«",
      "»",
      "「",
      ">",
      "<",
      "-",
      "_",
      "=",
      "~",
      "@",
      ":",
      ".",
      "1",
      "١",
      "é",
      "e\u0301",
      "字",
      "ｱ",
      "ﷺ",
      "😀",
      "\u200b",
    ],
    ...[
      "a ",
      "ab\n",
      "I am ",
      "1 ",
      "4111 ",
      "DE89 ",
      "a@b.",
      "://",
      "<a>",
      "</a",
      "> a\n",
      "---\n",
      "```",
      "a: b\n",
      "[1:00] ",
      "pin ",
      "password is ",
      "sk-",
      "eyJ",
    ],
    ...['"a b c d" ', "“a „b «c ", "(([[{{", "aB1-", "nut nuts nutty ", "-----BEGIN ", "'a' ", "x\u0301\u0302\u0303", "ﬁ", "is my PIN 1 "],
  ].map((part) => [JSON.stringify(part), (length: number) => part.repeat(Math.ceil(length / part.length)).slice(0, length)]),
);

/** All that a model might propose of it: the whole, its ends, what is not there, and changes. */
export function proposalsOn(text: string): readonly Proposal[] {
  const quotes = [
    text,
    text.slice(0, 300),
    text.slice(-300),
    `${text.slice(0, 200)} x ${text.slice(203, 400)}`,
    "no nuts for me",
    `${text}!`,
  ];
  return quotes.flatMap((quote): Proposal[] => [
    { quote: quote || "x" },
    { quote: quote || "x", text: `Likes Ann, 12 and ${text.slice(0, 400)}`, about: text.slice(0, 190), strength: "hard", need: "other" },
    { op: "supersede", quote: quote || "x", text: "No", target_id: "none", aspect: text.slice(0, 100) },
  ]);
}

/** Milliseconds of the processor. */
export function checkShape(shape: (length: number) => string, length: number): number {
  const text = shape(length);
  const began = process.cpuUsage();
  checked(text, proposalsOn(text), { context: [{ role: "assistant", content: `${shape(2_000)}?` }] });
  return process.cpuUsage(began).user / 1000;
}

/** Folds into eighteen times its length, which the stand-in, made for trying things out, reads in seconds; behind a model it is fed. */
const TOO_LONG_FOR_STAND_IN = JSON.stringify("ﷺ");
export const fedTo = (door: string, shape: string): boolean => door !== "chat without a key" || shape !== TOO_LONG_FOR_STAND_IN;
