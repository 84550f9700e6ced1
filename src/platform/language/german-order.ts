const AFTER_DASS = /(?<!\p{L})(?:dass|daß)\s+$/iu;
const SUBJECT = /^(?:ich|wir|mir|uns|(?:mein|unser)\p{L}*\s+\p{Lu}\p{L}+)(?=\s)/iu;

/**
 * A statement that stands behind "dass" in a message, in the order of a main clause: "dass ich keine Nüsse esse" gives "ich esse keine
 * Nüsse". What stands elsewhere, or has a subject that is not known, is given back as it is.
 */
export function asMainClause(statement: string, message: string): string {
  const at = message.indexOf(statement);
  const subject = SUBJECT.exec(statement)?.[0];
  if (at === -1 || subject === undefined || !AFTER_DASS.test(message.slice(0, at))) return statement;
  const words = statement.slice(subject.length).trim().split(/\s+/u);
  const verb = words.pop();
  if (verb === undefined || words.length === 0) return statement;
  // "Meine Tochter Mia gegen Nüsse allergisch ist": a name belongs to the subject.
  const name = /^(?:mein|unser)/iu.test(subject) && words.length > 2 && /^\p{Lu}/u.test(words[0] ?? "") ? words.splice(0, 1) : [];
  return [subject, ...name, verb, ...words].join(" ");
}
