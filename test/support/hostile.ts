/** Texts that a page must show as they are: markup, schemes, templates, directions, halves of pairs, and much of it. */
export const HOSTILE_TEXTS = [
  `<img src=x onerror="window.owned=1"><script>window.owned=1</script>`,
  `"><svg onload=window.owned=1><a href="javascript:window.owned=1">`,
  `javascript:window.owned=1`,
  `{{constructor.constructor('window.owned=1')()}} \${window.owned=1}`,
  `../../..?tenant=x#/<%2e%2e>&amp;`,
  `‮مرحبا‬ 今週末 👩‍🦽\u0000\u0007\ud83d`,
  `${"W".repeat(4_000)}`,
] as const;

/** The same answer with a hostile text in the place of each text in it, and of each name that is data. */
export function madeHostile(value: unknown, isNameData: (name: string) => boolean, seed = { next: 0 }): unknown {
  const next = () => HOSTILE_TEXTS[seed.next++ % HOSTILE_TEXTS.length];
  const walk = (inner: unknown, namesAreData: boolean): unknown => {
    if (typeof inner === "string") return next();
    if (Array.isArray(inner)) return inner.map((each) => walk(each, false));
    if (typeof inner !== "object" || inner === null) return inner;
    const entries = Object.entries(inner).map(([name, each]) => [namesAreData ? next() : name, walk(each, isNameData(name))]);
    return Object.fromEntries(entries);
  };
  return walk(value, false);
}
