/** What of a message is its author speaking, told by its form: quotations, code, quoted lines, pasted blocks and mails are not. */

/** Stands for each UTF-16 unit of what was brought along, so that offsets stay those of the message. */
export const BROUGHT = "\uFFFC";

const MARKS: readonly (readonly [string, string])[] = [
  ['"', '"'],
  ["“", "”"],
  ["„", "“"],
  ["»", "«"],
  ["«", "»"],
  ["「", "」"],
  [" '", "'"],
];
const FENCES: readonly string[] = ["```", "~~~", "---", "==="];

/** The message with all that was brought along masked by {@link BROUGHT}. Linear: each mark is looked for once. */
export function ownText(message: string): string {
  let text = message;
  const mask = (from: number, to: number) => {
    if (to > from) text = text.slice(0, from) + BROUGHT.repeat(to - from) + text.slice(to);
  };
  for (const fence of FENCES) {
    for (let from = text.indexOf(fence); from !== -1; ) {
      const end = text.indexOf(fence, from + fence.length);
      const to = end === -1 ? text.length : end + fence.length;
      mask(from, to);
      from = text.indexOf(fence, to);
    }
  }
  for (const [open, close] of MARKS) {
    for (let from = text.indexOf(open); from !== -1; ) {
      const end = text.indexOf(close, from + open.length);
      if (end === -1) break;
      const last = text[end - 1] ?? "";
      mask(from, end + close.length);
      // What was quoted ended its sentence.
      if (".!?".includes(last)) text = `${text.slice(0, end)}\n${text.slice(end + 1)}`;
      from = text.indexOf(open, end + close.length);
    }
  }
  let at = 0;
  for (const line of text.split("\n")) {
    const start = line.trimStart();
    if (start.startsWith(">") || start.startsWith("|")) mask(at, at + line.length);
    // A line that ends with a colon leads to what was pasted below it, unless it is a list of the guest's own.
    else if (start.trimEnd().endsWith(":") && !/^\s*[-*•\d]/u.test(text.slice(at + line.length + 1))) {
      mask(at + line.length + 1, text.length);
      break;
    }
    // The address of a letter, or of a mail: what follows is the letter.
    else if ((at > 0 && start.startsWith("Dear ")) || isAddress(start)) {
      mask(at, text.length);
      break;
    } else if (isShouted(start)) mask(at, at + line.length);
    at += line.length + 1;
  }
  return text;
}

const HEAD_CHARS = 40;

/** "From: a@b.example". */
function isAddress(line: string): boolean {
  const colon = line.slice(0, HEAD_CHARS).indexOf(":");
  return colon > 0 && !line.slice(0, colon).includes(" ") && line.slice(colon, 200).includes("@");
}

/** "SYSTEM: …". */
function isShouted(line: string): boolean {
  const colon = line.slice(0, HEAD_CHARS).indexOf(":");
  const head = line.slice(0, Math.max(0, colon));
  return head.length > 3 && head === head.toUpperCase() && head !== head.toLowerCase();
}
