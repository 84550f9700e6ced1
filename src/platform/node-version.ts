/** What package.json asks for. */
const OLDEST = [20, 19] as const;

/**
 * A sentence about a Node.js that is too old, by its version; null about another. An entry asks before it loads anything: this file and
 * the entries are written so that Node.js 12 parses them.
 */
export function tooOldNode(version: string): string | null {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  if (major > OLDEST[0] || (major === OLDEST[0] && minor >= OLDEST[1])) return null;
  const needed = `Maitred needs Node ${OLDEST.join(".")} or newer; this is ${version}.`;
  return `${needed} Install one from https://nodejs.org, then run the same again.`;
}
